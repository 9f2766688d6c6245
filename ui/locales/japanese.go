package locales

import "github.com/latchkey-go/latchkey/ui"

// Japanese is Japanese. The map is the caller's.
//
//nolint:funlen,gosec // a table of words, none of which is a credential
func Japanese() ui.Locale {
	return ui.Locale{Tag: "ja", Texts: map[string]string{
		"date": "2006年1月2日",

		"moment": "2006年1月2日 15:04（UTC）",

		"months": "1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月",

		"report": "お問い合わせの際は、次のコードをお知らせください：%s",

		"logo": "ロゴ",

		"signin.title":         "ログイン",
		"signin.heading":       "ログイン",
		"signin.with":          "%sでログイン",
		"signin.none":          "ログイン方法がまだ設定されていません。",
		"signin.email":         "メールアドレス",
		"signin.email.example": "name@example.com",

		"passkey.noscript":    "パスキーを使うにはJavaScriptが必要ですが、このブラウザーでは無効になっています。",
		"passkey.waiting":     "パスキーを待っています…",
		"passkey.cancelled":   "キャンセルされました。もう一度お試しいただけます。",
		"passkey.failed":      "うまくいきませんでした。もう一度お試しください。",
		"passkey.unsupported": "このブラウザーはパスキーに対応していません。",

		"signout.title":    "ログアウト",
		"signout.heading":  "ログアウト",
		"signout.question": "ログアウトしますか？",
		"signout.button":   "ログアウト",

		"verify.title":   "メールの確認",
		"verify.heading": "メールをご確認ください",
		"verify.body":    "ログイン用のリンクをお送りしました。このページは閉じてかまいません。",

		"confirm.as":   "%sとしてログインしますか？",
		"confirm.body": "続けるとログインします。",

		"signin.failed":     "うまくいきませんでした。もう一度試すか、別のログイン方法を選んでください。",
		"signin.not-linked": "このメールアドレスのアカウントはすでにあります。以前と同じ方法でログインしてください。",
		"signin.not-mailed": "メールを送信できませんでした。アドレスを確認して、もう一度お試しください。",
		"signin.no-match":   "入力内容に一致するアカウントがありません。確認して、もう一度お試しください。",
		"signin.required":   "このページを表示するにはログインしてください。",
		"signin.other":      "ログインできませんでした。もう一度お試しください。",

		"error.title":                 "エラー",
		"error.configuration.heading": "サーバーエラー",
		"error.configuration.body":    "このサイトではログインが正しく設定されていません。お客様の操作に問題はありません。詳細はサイト管理者がログで確認できます。",
		"error.denied.heading":        "アクセスが拒否されました",
		"error.denied.body":           "このアカウントではログインできません。別のアカウントをお持ちの場合は、そちらをお試しください。",
		"error.too-many.heading":      "試行回数が多すぎます",
		"error.too-many.body":         "しばらく待ってから、もう一度お試しください。",
		"error.busy.heading":          "少々お待ちください",
		"error.busy.body":             "サイトが混み合っており、時間内に応答できませんでした。お客様の操作に問題はありません。少し待ってからもう一度お試しください。",
		"error.verification.heading":  "ログインできません",
		"error.verification.body":     "このログイン用リンクは使用済みか、有効期限が切れています。新しいリンクをリクエストしてください。",
		"error.other.heading":         "エラー",
		"error.other.body":            "途中で問題が発生しました。前のページに戻って、もう一度お試しください。",

		"problem.again": "先にもう一度ログインしてください。",

		"status.400": "不正なリクエスト",
		"status.401": "認証が必要です",
		"status.403": "禁止されています",
		"status.404": "見つかりません",
		"status.405": "許可されていないメソッド",
		"status.409": "競合",
		"status.410": "もう存在しません",
		"status.413": "リクエストが大きすぎます",
		"status.415": "対応していない形式",
		"status.422": "処理できません",
		"status.429": "リクエストが多すぎます",
		"status.500": "サーバー内部エラー",
		"status.503": "サービスを利用できません",

		"label.Email": "メールアドレス",

		"provider.Email": "メール",

		"label.Password": "パスワード",
		"label.Username": "ユーザー名",
		"label.Name":     "名前",

		"provider.Passkey":     "パスキー",
		"provider.Credentials": "ログイン情報",
		"provider.Password":    "パスワード",

		"label.Forgot your password?": "パスワードをお忘れですか？",
		"label.Create an account":     "アカウントを作成",

		"letter.title":           "お客様のアカウント",
		"letter.time":            "日時：%s",
		"letter.network":         "ネットワーク：%s",
		"letter.until":           "リンクの有効期限：%s",
		"letter.code":            "コード：%s",
		"letter.sign-in.subject": "%sにログイン",
		"letter.sign-in.button":  "ログイン",
		"letter.sign-in.footer":  "このメールに心当たりがない場合は、無視してください。",
		"letter.verify.subject":  "%s：メールアドレスの確認",
		"letter.verify.button":   "アドレスを確認する",
		"letter.verify.body":     "このアドレスで登録の申し込みがありました。登録したブラウザーでリンクを開いてください。別のブラウザーで開くと、登録時のパスワードの入力を求められます。",
		"letter.verify.footer":   "心当たりがない場合は、このメールを無視してください。アカウントは作成されません。",
		"letter.exists.subject":  "%sのアカウントをお持ちです",
		"letter.exists.button":   "ログイン",
		"letter.exists.body": "" +
			"このアドレスで登録の申し込みがありましたが、すでにアカウントがあります。変更は何も行われていません。このアドレスでログインするか、パスワードをお忘れの場合は新しいパスワードを設定してください。",
		"letter.exists.footer":            "心当たりがない場合は、何もする必要はありません。",
		"letter.reset.subject":            "%s：新しいパスワードの設定",
		"letter.reset.button":             "パスワードを設定する",
		"letter.reset.body":               "このアドレスのアカウントについて、新しいパスワードの設定が求められました。",
		"letter.reset.footer":             "心当たりがない場合は、このメールを無視してください。パスワードは変わりません。",
		"letter.password-changed.subject": "%sのパスワードが変更されました",
		"letter.password-changed.button":  "自分ではありません",
		"letter.password-changed.body":    "お客様のアカウントのパスワードが設定、変更、または削除されました。",
		"letter.password-changed.footer":  "ご自身の操作であれば、何もする必要はありません。心当たりがない場合は、すぐに新しいパスワードを設定してください。",
		"letter.email-change.subject":     "%s：新しいメールアドレスの確認",
		"letter.email-change.button":      "アドレスを確認する",
		"letter.email-change.body":        "今後、このアドレスをお客様のアカウントで使用するとのお申し込みがありました。",
		"letter.email-change.footer":      "心当たりがない場合は、このメールを無視してください。何も変更されません。",
		"letter.email-changed.subject":    "%sのメールアドレスが変更されました",
		"letter.email-changed.button":     "変更を取り消す",
		"letter.email-changed.body":       "お客様のアカウントのアドレスが、このアドレスから別のものに変更されました。",
		"letter.email-changed.footer":     "ご自身の操作であれば、何もする必要はありません。心当たりがない場合は変更を取り消してください。アカウントのすべてのセッションも終了します。",
		"letter.new-device.subject":       "%sへの新しいログイン",
		"letter.new-device.button":        "セッションを確認する",
		"letter.new-device.body":          "これまで使われていなかったブラウザーから、お客様のアカウントにログインがありました。",
		"letter.new-device.footer":        "ご自身の操作であれば、何もする必要はありません。心当たりがない場合は、そのセッションを終了し、ログイン方法を変更してください。",
		"letter.invite.subject":           "%sへの招待",
		"letter.invite.button":            "招待を受ける",
		"letter.invite.body":              "このアドレスで登録できます。",
		"letter.invite.footer":            "ご希望でない場合は、このメールを無視してください。アカウントは作成されません。",
		"letter.deleted.subject":          "%sのアカウントが削除されました",
		"letter.deleted.body":             "お客様のアカウントは削除されました。",
		"letter.deleted.footer":           "心当たりがない場合は、サイトの運営者にお問い合わせください。",

		"signin.to":        "%sにログイン",
		"signin.mail-link": "ログイン用リンクをメールで受け取る",
		"signin.show":      "パスワードを表示",
		"signin.last":      "前回使用",
		"signin.who":       "%sとしてログインしています。",
		"signin.continue":  "続ける",

		"terms": "利用規約",

		"privacy": "プライバシー",

		"cancel": "キャンセル",

		"verify.sent":  "送信先：%s",
		"verify.again": "もう一度送信するか、別のアドレスを使う",
	}}
}
