// A page with SvelteKit's client. The framework would load the session on the server; this page requests it.
import { signIn, signOut } from "@auth/sveltekit/client"
import { signIn as signInByPasskey } from "@auth/sveltekit/webauthn"

window.client = { signIn, signInByPasskey, signOut }
const session = await (await fetch("/auth/session")).json()
document.querySelector("main").textContent = session ? `signed in as ${session.user.email}` : "signed out"
