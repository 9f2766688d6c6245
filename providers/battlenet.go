package providers

import "github.com/latchkey-go/latchkey/core"

// BattleNet signs in with Battle.net accounts.
//
// Register the application at https://develop.battle.net/access/clients with the callback URL
// {origin}/auth/callback/battlenet. Environment: AUTH_BATTLENET_ID, AUTH_BATTLENET_SECRET, AUTH_BATTLENET_ISSUER.
//
// The issuer depends on the region: https://oauth.battle.net, https://oauth.battlenet.com.cn, or the older
// https://<region>.battle.net/oauth. The profile has no email address.
func BattleNet(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "battlenet", Name: "Battle.net", Type: core.TypeOIDC,
		Profile: mapping{id: "sub", name: "battle_tag"}.person(),
		Style:   core.Style{Mark: markBattlenet()},
	}, options)
}
