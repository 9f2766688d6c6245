package tokens

// The inputs and outputs of the actions that have no other type.
type (
	clientInput struct {
		ClientID string `json:"client_id"`
	}
	tokenInput struct {
		ClientID       string `json:"client_id"`
		GrantType      string `json:"grant_type"`
		Code           string `json:"code,omitempty" jsonschema:"authorization_code: the code"`
		Verifier       string `json:"code_verifier,omitempty" jsonschema:"authorization_code: the verifier (RFC 7636)"`
		RedirectURI    string `json:"redirect_uri,omitempty" jsonschema:"authorization_code: as in the authorization request"`
		RefreshToken   string `json:"refresh_token,omitempty"`
		DeviceCode     string `json:"device_code,omitempty"`
		Resource       string `json:"resource,omitempty" jsonschema:"the service that the token is for (RFC 8707)"`
		Scope          string `json:"scope,omitempty"`
		Provider       string `json:"provider,omitempty" jsonschema:"token-exchange: the provider of the ID token"`
		Nonce          string `json:"nonce,omitempty" jsonschema:"token-exchange: the nonce of the ID token"`
		SubjectToken   string `json:"subject_token,omitempty" jsonschema:"token-exchange: the ID token"`
		SubjectType    string `json:"subject_token_type,omitempty"`
		User           string `json:"user,omitempty" jsonschema:"token-exchange: the user of Apple's first response, as JSON"`
		ActorToken     string `json:"actor_token,omitempty" jsonschema:"must be empty"`
		RequestedToken string `json:"requested_token_type,omitempty"`
	}
	revokeInput struct {
		ClientID string `json:"client_id"`
		Token    string `json:"token" jsonschema:"a refresh token, or an access token for this site"`
	}
	deviceInput struct {
		ClientID string `json:"client_id"`
		Scope    string `json:"scope,omitempty"`
		Resource string `json:"resource,omitempty"`
	}
	authorizeInput struct {
		ClientID     string `json:"client_id"`
		RedirectURI  string `json:"redirect_uri"`
		ResponseType string `json:"response_type" jsonschema:"code"`
		State        string `json:"state,omitempty"`
		Challenge    string `json:"code_challenge"`
		Method       string `json:"code_challenge_method" jsonschema:"S256"`
		Scope        string `json:"scope,omitempty"`
		Resource     string `json:"resource,omitempty"`
	}
	authorizeDecision struct {
		authorizeInput
		Decision string `json:"decision" jsonschema:"allow, or another value to deny"`
	}
	deviceDecision struct {
		Code     string `json:"code" jsonschema:"the user code"`
		Decision string `json:"decision,omitempty" jsonschema:"allow or deny; without it, nothing is decided"`
	}
	grantID struct {
		ID string `json:"id"`
	}
	nonceResponse struct {
		Nonce     string `json:"nonce"`
		ExpiresIn int64  `json:"expires_in"`
	}
	appList struct {
		Apps []Grant `json:"apps"`
	}
	ended struct {
		Ended bool `json:"ended"`
	}
)
