package providers

// TwitterProfile is what [Twitter] tells of a person under version 2.0. It is for [Typed] and [ProfileAs]. Data has ID,
// Name and Username, and further fields as [TwitterOptions] asks for them; those of [TwitterOAuth1] are others.
type TwitterProfile struct {
	Data     TwitterUser     `json:"data"`
	Includes TwitterIncludes `json:"includes"`
}

// TwitterUser is a user of the service.
type TwitterUser struct {
	// ID is the number of the account as text, Name what is shown, Username the handle without "@".
	ID       string `json:"id"`
	Name     string `json:"name"`
	Username string `json:"username"`
	// The rest is there where TwitterOptions.UserFields asks for the field of that name.

	// CreatedAt is when the account was made, in RFC 3339.
	CreatedAt   string `json:"created_at"`
	Description string `json:"description"`
	// Email is not sent so far. ConfirmedEmail is an address that the service has confirmed; it needs the scope
	// users.email.
	Email           string `json:"email"`
	ConfirmedEmail  string `json:"confirmed_email"`
	Location        string `json:"location"`
	PinnedPostID    string `json:"pinned_post_id"`
	ProfileImageURL string `json:"profile_image_url"`
	// Protected accounts show their posts to followers alone.
	Protected bool            `json:"protected"`
	URL       string          `json:"url"`
	Verified  bool            `json:"verified"`
	Entities  TwitterEntities `json:"entities"`
}

// TwitterEntities are the links and tags of a profile, with the places that they have in the texts: Start and End count
// characters.
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

// TwitterIncludes are the posts that TwitterOptions.Expansions asks for.
type TwitterIncludes struct {
	Posts []struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	} `json:"posts"`
}
