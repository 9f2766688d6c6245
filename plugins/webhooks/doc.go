// Package webhooks is a plugin that sends events of users, sessions and organizations to other services: signed POST
// requests as of Standard Webhooks (https://www.standardwebhooks.com).
//
//	hooks := webhooks.New(webhooks.Options{
//		Endpoints: []webhooks.Config{{
//			ID: "billing", URL: "https://billing.example/hooks", Events: []string{"user.*"},
//			Secrets: []core.Secret{core.Secret(os.Getenv("BILLING_WEBHOOK_SECRET"))},
//		}},
//	})
//	auth, err := core.New(core.Config{Plugins: []core.Plugin{hooks}, Store: store, …})
//
// An event is stored before the change that it reports, or at least before the response to the request, and is sent in
// the background. If the endpoint does not accept it, it is sent again for three days. A process that ends loses no
// stored event. An event can arrive twice, with the same ID in the header webhook-id, and in any order.
package webhooks
