// A single-page application without an Auth.js client. The code between the two lines is in docs/authjs.md.
const auth = document.documentElement.dataset.auth // such as https://api.app.example/auth

// ---
const ask = async (path, options) => (await fetch(`${auth}/${path}`, { credentials: "include", ...options })).json()

async function post(path, fields) {
  const { csrfToken } = await ask("csrf")
  const { url } = await ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Auth-Return-Redirect": "1" },
    body: JSON.stringify({ ...fields, csrfToken }),
  })
  const { error, code } = Object.fromEntries(new URL(url).searchParams)
  return { error, code, url }
}
// ---

window.client = {
  signIn: (provider, fields) => post(provider === "credentials" ? "callback/credentials" : `signin/${provider}`, fields),
  signOut: () => post("signout", { callbackUrl: location.href }),
  refresh: async () => {
    const session = await ask("session")
    document.querySelector("main").textContent = session ? `signed in as ${session.user.email}` : "signed out"
  },
}
await client.refresh()
