package webhooks

// descriptions are the summaries, inputs and outputs of the actions, by method and verb.
var descriptions = map[string][3]any{
	"GET ":         {"List the endpoints", struct{}{}, endpointList{}},
	"GET failed":   {"List the failed deliveries of an endpoint", idInput{}, failedList{}},
	"POST ":        {"Add an endpoint", endpointInput{}, withSecret{}},
	"POST update":  {"Change an endpoint", updateInput{}, Endpoint{}},
	"POST disable": {"Disable an endpoint", idInput{}, Endpoint{}},
	"POST enable":  {"Enable an endpoint", idInput{}, Endpoint{}},
	"POST rotate":  {"Replace the secret of an endpoint", idInput{}, withSecret{}},
	"POST delete":  {"Delete an endpoint", idInput{}, deleted{}},
	"POST test":    {"Send a test event", idInput{}, tested{}},
	"POST replay":  {"Send failed deliveries again", replayInput{}, replayed{}},
}

type (
	idInput struct {
		ID string `json:"id" jsonschema:"the ID of the endpoint"`
	}
	endpointInput struct {
		URL         string   `json:"url"`
		Description string   `json:"description,omitempty"`
		Events      []string `json:"events,omitempty" jsonschema:"names of events; the default is all"`
	}
	updateInput struct {
		idInput
		endpointInput
	}
	replayInput struct {
		idInput
		Delivery string `json:"delivery,omitempty" jsonschema:"the ID of one delivery; the default is up to 100"`
	}
	deleted struct {
		Deleted bool `json:"deleted"`
	}
)
