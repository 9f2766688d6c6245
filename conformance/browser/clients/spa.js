// A single-page application without a client: the recipe of docs/authjs.md.
const auth = document.documentElement.dataset.auth // https://api.app.example/auth

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

const show = session => {
  document.querySelector("main").textContent = session ? `signed in as ${session.user.email}` : "signed out"
}

window.client = {
  signIn: (provider, fields) => post(provider === "credentials" ? "callback/credentials" : `signin/${provider}`, fields),
  signOut: () => post("signout", { callbackUrl: location.href }),
  refresh: async () => show(await ask("session")),
}
await client.refresh()
