// A minimal application with next-auth's React client. It shows the signed-in user. The tests call the client's exports.
import { useEffect } from "react"
import { createRoot } from "react-dom/client"
import { SessionProvider, getCsrfToken, getProviders, getSession, signIn, signOut, useSession } from "next-auth/react"
import { signIn as signInByPasskey } from "next-auth/webauthn"

const { base, required } = document.documentElement.dataset
window.client = { getCsrfToken, getProviders, getSession, signIn, signInByPasskey, signOut }
window.statuses = [] // all results of useSession, in order

function Visitor() {
  const { data, status, update } = useSession({ required: required === "true" })
  client.update = update
  useEffect(() => void statuses.push(status), [status])
  if (status !== "authenticated") return <p>{status === "loading" ? "loading" : "signed out"}</p>
  return <p>signed in as {data.user.email ?? "somebody"}{data.note && ` who says ${data.note}`}</p>
}

createRoot(document.querySelector("main")).render(
  <SessionProvider basePath={base}><Visitor /></SessionProvider>
)
