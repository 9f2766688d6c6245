"""An OAuth 1.0a provider with oauthlib. It prints its address and consents to every request, except with ?denied at /oauth/authenticate."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlencode, urlsplit, parse_qs

from oauthlib.oauth1 import (
    AccessTokenEndpoint, AuthorizationEndpoint, RequestTokenEndpoint, RequestValidator, ResourceEndpoint,
)

CLIENT, SECRET = "consumer-key", "consumer & secret+/="
requests, accesses, nonces, callbacks = {}, {}, set(), []


class Validator(RequestValidator):
    enforce_ssl = False
    dummy_client = dummy_request_token = dummy_access_token = "dummy"
    nonce_length = client_key_length = verifier_length = request_token_length = access_token_length = (3, 100)

    @property
    def safe_characters(self):
        return super().safe_characters | set("-_")

    def get_client_secret(self, key, request):
        return SECRET if key == CLIENT else "other"

    def get_request_token_secret(self, key, token, request):
        return requests.get(token, {}).get("oauth_token_secret", "other")

    def get_access_token_secret(self, key, token, request):
        return accesses.get(token, {}).get("oauth_token_secret", "other")

    def get_default_realms(self, key, request):
        return []

    def get_realms(self, token, request):
        return []

    def get_redirect_uri(self, token, request):
        return requests[token]["callback"]

    def validate_client_key(self, key, request):
        return key == CLIENT

    def validate_request_token(self, key, token, request):
        return token in requests

    def validate_access_token(self, key, token, request):
        return token in accesses

    def validate_timestamp_and_nonce(self, key, timestamp, nonce, request, request_token=None, access_token=None):
        fresh = (timestamp, nonce) not in nonces
        nonces.add((timestamp, nonce))
        return fresh

    def validate_redirect_uri(self, key, uri, request):
        return urlsplit(uri).path == "/auth/callback/twitter"

    def validate_requested_realms(self, key, realms, request):
        return True

    def validate_realms(self, key, token, request, uri=None, realms=None):
        return True

    def validate_verifier(self, key, token, verifier, request):
        return requests[token].get("verifier") == verifier

    def verify_request_token(self, token, request):
        return token in requests

    def verify_realms(self, token, realms, request):
        return True

    def save_request_token(self, token, request):
        requests[token["oauth_token"]] = dict(token, callback=request.redirect_uri)

    def save_verifier(self, token, verifier, request):
        requests[token]["verifier"] = verifier["oauth_verifier"]

    def save_access_token(self, token, request):
        accesses[token["oauth_token"]] = dict(token)

    def invalidate_request_token(self, key, token, request):
        del requests[token]


validator = Validator()


class Handler(BaseHTTPRequestHandler):
    def answer(self, headers, body, status):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write((body or "").encode())

    def handle_any(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length).decode()
        uri = "http://%s%s" % (self.headers["Host"], self.path)
        args = dict(uri=uri, http_method=self.command, body=body, headers=dict(self.headers))
        path = urlsplit(uri).path
        if path == "/oauth/request_token":
            self.answer(*RequestTokenEndpoint(validator).create_request_token_response(**args))
        elif path == "/oauth/access_token":
            self.answer(*AccessTokenEndpoint(validator).create_access_token_response(**args))
        elif path == "/oauth/authenticate":
            query = parse_qs(urlsplit(uri).query)
            if "deny" in query:
                token = query["oauth_token"][0]
                self.answer({"Location": requests[token]["callback"] + "?" + urlencode({"denied": token})}, "", 302)
                return
            self.answer(*AuthorizationEndpoint(validator).create_authorization_response(**args))
        elif path == "/1.1/account/verify_credentials.json":
            valid, _ = ResourceEndpoint(validator).validate_protected_resource_request(**args)
            person = {
                "id": 2244994945, "id_str": "2244994945", "name": "X Dev", "screen_name": "xdev", "email": "dev@example.com",
                "profile_image_url_https": "https://pbs.example.com/p_normal.jpg",
            }
            if "include_email" not in uri:
                del person["email"]
            self.answer({"Content-Type": "application/json"}, json.dumps(person if valid else {}), 200 if valid else 401)
        else:
            self.answer({}, "", 404)

    do_GET = do_POST = handle_any

    def log_message(self, *args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print("http://127.0.0.1:%d" % server.server_port, flush=True)
server.serve_forever()
