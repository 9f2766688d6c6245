// An application with Auth.js: sign-in with a password or a provider, sessions in the cookie, and two additional actions that create
// and read tokens. The first argument contains the settings as JSON. The first line of the output is the address.
import { ExpressAuth } from "@auth/express"
import Credentials from "@auth/express/providers/credentials"
import { decode, encode } from "@auth/core/jwt"
import express from "express"
import { EncryptJWT } from "jose"
import { hkdf } from "node:crypto"

const settings = JSON.parse(process.argv[2])
process.stdin.resume().on("end", () => process.exit()) // ends with the parent process

const config = {
  trustHost: true,
  secret: settings.secrets,
  providers: [
    Credentials({
      credentials: { email: {}, password: {} },
      authorize: ({ email, password }) => password === "engine" ? { id: "u1", name: "Ada", email } : null,
    }),
    {
      id: "mock", name: "Mock", type: "oauth", clientId: "client", clientSecret: "secret", checks: ["pkce", "state"],
      authorization: settings.provider + "/authorize", token: settings.provider + "/token", userinfo: settings.provider + "/userinfo",
      profile: (p) => ({ id: p.id, name: p.name, email: p.email }),
    },
  ],
  callbacks: {
    jwt: ({ token, trigger, session }) => trigger === "update" ? { ...token, ...session } : token,
    session: ({ session, token }) => ({ ...session, note: token.note }),
  },
}

const app = express()
app.use(express.json({ limit: "1mb" }))
app.post("/encode", async (request, response) => response.json(await encode(request.body)))
app.post("/decode", async (request, response) => {
  try {
    response.json(await decode(request.body))
  } catch (error) {
    response.status(400).json({ error: error.name })
  }
})
// Auth.js reads tokens with A256GCM and a 32-byte key, but does not create them.
app.post("/encode-gcm", (request, response) => {
  const { secret, salt, token } = request.body
  hkdf("sha256", secret, salt, `Auth.js Generated Encryption Key (${salt})`, 32, async (_, key) => {
    const sealed = await new EncryptJWT(token).setProtectedHeader({ alg: "dir", enc: "A256GCM" }).setIssuedAt().setExpirationTime("1h").encrypt(new Uint8Array(key))
    response.json(sealed)
  })
})
app.use("/auth/*", ExpressAuth(config))
const server = app.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`))
