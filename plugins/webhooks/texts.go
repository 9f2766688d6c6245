package webhooks

import "github.com/latchkey-go/latchkey/ui"

// The texts of the pages.
var (
	textHeading = ui.Text{Key: "webhooks.heading", English: "Webhooks"}
	textIntro   = ui.Text{
		Key:     "webhooks.intro",
		English: "Endpoints receive the events of all users. Add only servers that you trust.",
	}
	textEndpoints  = ui.Text{Key: "webhooks.endpoints", English: "Endpoints"}
	textNone       = ui.Text{Key: "webhooks.none", English: "No endpoints yet."}
	textManage     = ui.Text{Key: "webhooks.manage", English: "Manage"}
	textBack       = ui.Text{Key: "webhooks.back", English: "All endpoints"}
	textConfigured = ui.Text{Key: "webhooks.configured", English: "Configuration"}
	textDisabled   = ui.Text{Key: "webhooks.disabled", English: "Disabled"}
	textFailing    = ui.Text{Key: "webhooks.failing", English: "Failing"}
	textAll        = ui.Text{Key: "webhooks.all", English: "All events"}
	textNew        = ui.Text{Key: "webhooks.new", English: "New endpoint"}
	textURL        = ui.Text{Key: "webhooks.url", English: "URL"}
	textName       = ui.Text{Key: "webhooks.description", English: "Description (optional)"}
	textEvents     = ui.Text{Key: "webhooks.events", English: "Events, separated by spaces (optional)"}
	textCreate     = ui.Text{Key: "webhooks.create", English: "Add endpoint"}
	textSecret     = ui.Text{Key: "webhooks.secret", English: "Signing secret"}
	textCopy       = ui.Text{
		Key:     "webhooks.copy",
		English: "Copy the signing secret now. You won't be able to see it again.",
	}
	textActions    = ui.Text{Key: "webhooks.actions", English: "Actions"}
	textTest       = ui.Text{Key: "webhooks.test", English: "Send test event"}
	textRotate     = ui.Text{Key: "webhooks.rotate", English: "Replace secret"}
	textDisable    = ui.Text{Key: "webhooks.disable", English: "Disable"}
	textEnable     = ui.Text{Key: "webhooks.enable", English: "Enable"}
	textDelete     = ui.Text{Key: "webhooks.delete", English: "Delete endpoint"}
	textFailed     = ui.Text{Key: "webhooks.failed", English: "Failed deliveries"}
	textNoneFailed = ui.Text{Key: "webhooks.failed.none", English: "No failed deliveries."}
	textReplay     = ui.Text{Key: "webhooks.replay", English: "Send again"}
	textReplayAll  = ui.Text{Key: "webhooks.replay.all", English: "Send all again"}

	textProblemURL = ui.Text{
		Key: "webhooks.problem.url", English: "Enter the https URL of a server on the internet.",
	}
	textProblemName = ui.Text{
		Key: "webhooks.problem.description", English: "Enter a description of at most 100 characters.",
	}
	textProblemEvents = ui.Text{
		Key: "webhooks.problem.events", English: "Enter names of events, such as user.created or user.*.",
	}
	textProblemMany = ui.Text{
		Key: "webhooks.problem.many", English: "You have too many endpoints. Delete one you no longer need.",
	}
	textProblemGone = ui.Text{
		Key: "webhooks.problem.gone", English: "This endpoint or delivery no longer exists.",
	}
	textProblemConfigured = ui.Text{
		Key:     "webhooks.problem.configured",
		English: "This endpoint is part of the site's configuration and can only be changed there.",
	}
	textProblemDisabled = ui.Text{Key: "webhooks.problem.disabled", English: "Enable the endpoint first."}
	textProblemBrowser  = ui.Text{Key: "webhooks.problem.browser", English: "Manage webhooks in a browser."}
	textProblemTest     = ui.Text{
		Key: "webhooks.problem.test", English: "The endpoint did not accept the test event: %s",
	}
)

// problemTexts are the messages for problem codes.
var problemTexts = map[string]ui.Text{
	codeURL: textProblemURL, codeDescription: textProblemName, codeEvents: textProblemEvents, codeTooMany: textProblemMany,
	codeNotFound: textProblemGone, codeConfigured: textProblemConfigured, codeDisabled: textProblemDisabled,
	codeBrowser: textProblemBrowser,
}

// doneTexts say what a request has done, by verb.
var doneTexts = map[string]ui.Text{
	"":        {Key: "webhooks.done.create", English: "Endpoint added."},
	"test":    {Key: "webhooks.done.test", English: "The endpoint accepted the test event."},
	"rotate":  {Key: "webhooks.done.rotate", English: "Secret replaced. The previous secret works for another day."},
	"disable": {Key: "webhooks.done.disable", English: "Endpoint disabled."},
	"enable":  {Key: "webhooks.done.enable", English: "Endpoint enabled."},
	"delete":  {Key: "webhooks.done.delete", English: "Endpoint deleted."},
	"replay":  {Key: "webhooks.done.replay", English: "The failed deliveries will be sent again."},
}
