package providers

// TwitterProfile is the profile of [Twitter] with version 2.0. Use it with [Typed] and [ProfileAs]. Data contains ID,
// Name and Username, and the additional fields that [TwitterOptions] requests. Profiles of [TwitterOAuth1] have other
// members.
type TwitterProfile struct {
	Data     TwitterUser     `json:"data"`
	Includes TwitterIncludes `json:"includes"`
}

// TwitterUser is a user of the service.
type TwitterUser struct {
	// ID is the account's number as text, Name the display name, Username the handle without "@".
	ID       string `json:"id"`
	Name     string `json:"name"`
	Username string `json:"username"`
	// The following fields are set only if TwitterOptions.UserFields requests them.

	// CreatedAt is the time the account was created, in RFC 3339.
	CreatedAt   string `json:"created_at"`
	Description string `json:"description"`
	// Email is not sent by the service so far. ConfirmedEmail is an address that the service has verified. It requires the
	// scope users.email.
	Email           string `json:"email"`
	ConfirmedEmail  string `json:"confirmed_email"`
	Location        string `json:"location"`
	PinnedPostID    string `json:"pinned_post_id"`
	ProfileImageURL string `json:"profile_image_url"`
	// Protected reports whether only followers can see the posts.
	Protected bool            `json:"protected"`
	URL       string          `json:"url"`
	Verified  bool            `json:"verified"`
	Entities  TwitterEntities `json:"entities"`
}

// TwitterEntities are the links and tags of a profile. Start and End are their positions in the texts, in characters.
type TwitterEntities struct {
	Description struct {
		Hashtags []struct {
			Start int    `json:"start"`
			End   int    `json:"end"`
			Tag   string `json:"tag"`
		} `json:"hashtags"`
	} `json:"description"`
	URL struct {
		URLs []struct {
			Start       int    `json:"start"`
			End         int    `json:"end"`
			URL         string `json:"url"`
			ExpandedURL string `json:"expanded_url"`
			DisplayURL  string `json:"display_url"`
		} `json:"urls"`
	} `json:"url"`
}

// TwitterIncludes are the posts that TwitterOptions.Expansions requests.
type TwitterIncludes struct {
	Posts []struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	} `json:"posts"`
}
