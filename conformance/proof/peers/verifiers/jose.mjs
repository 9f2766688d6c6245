// Verifies the access tokens in its input, one in each line: node jose.mjs JWKS ISSUER AUDIENCE.
import { createInterface } from 'node:readline'
import { createRemoteJWKSet, jwtVerify } from 'jose'

const [jwks, issuer, audience] = process.argv.slice(2)
const keys = createRemoteJWKSet(new URL(jwks))
for await (const token of createInterface({ input: process.stdin })) {
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer, audience, typ: 'at+jwt', algorithms: ['EdDSA', 'ES256'], requiredClaims: ['client_id', 'exp', 'iat', 'jti', 'sub'],
    })
    console.log('valid', payload.sub, payload.scope)
  } catch (e) {
    console.log('refused', e.code)
  }
}
