"""Verifies the access tokens in its input, one in each line: pyjwt.py JWKS ISSUER AUDIENCE."""

import sys

import jwt

jwks, issuer, audience = sys.argv[1:]
keys = jwt.PyJWKClient(jwks)
for line in sys.stdin:
    token = line.strip()
    try:
        if jwt.get_unverified_header(token).get("typ") != "at+jwt":
            raise jwt.InvalidTokenError("typ")
        claims = jwt.decode(
            token, keys.get_signing_key_from_jwt(token).key, algorithms=["EdDSA", "ES256"], audience=audience, issuer=issuer,
            options={"require": ["client_id", "exp", "iat", "jti", "sub"]},
        )
        print("valid", claims["sub"], claims["scope"])
    except jwt.PyJWTError as e:
        print("refused", type(e).__name__)
