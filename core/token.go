package core

import (
	"github.com/latchkey-go/latchkey/core/audit"
	sessiontoken "github.com/latchkey-go/latchkey/core/token"
)

// Token holds the claims of a session token under StrategyJWT. Package token has a reader for services without an Auth.
type Token = sessiontoken.Token

var errExpired = clientError(auditReason(audit.ReasonExpired, "token has expired"))
