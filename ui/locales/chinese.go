package locales

import "github.com/latchkey-go/latchkey/ui"

// Chinese is Chinese in simplified characters. The map is the caller's.
//
//nolint:funlen,gosec // a table of words, none of which is a credential
func Chinese() ui.Locale {
	return ui.Locale{Tag: "zh-Hans", Texts: map[string]string{
		"date": "2006年1月2日",

		"moment": "2006年1月2日 15:04（UTC）",

		"months": "1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月",

		"report": "如需反馈此问题，请提供代码 %s",

		"logo": "徽标",

		"signin.title":         "登录",
		"signin.heading":       "登录",
		"signin.with":          "使用%s登录",
		"signin.none":          "尚未设置任何登录方式。",
		"signin.email":         "邮箱",
		"signin.email.example": "name@example.com",

		"passkey.noscript":    "通行密钥需要 JavaScript，但此浏览器已将其停用。",
		"passkey.waiting":     "正在等待您的通行密钥…",
		"passkey.cancelled":   "操作已取消。您可以重试。",
		"passkey.failed":      "操作失败，请重试。",
		"passkey.unsupported": "此浏览器不支持通行密钥。",

		"signout.title":    "退出登录",
		"signout.heading":  "退出登录",
		"signout.question": "确定要退出登录吗？",
		"signout.button":   "退出登录",

		"verify.title":   "查看邮件",
		"verify.heading": "请查看您的邮箱",
		"verify.body":    "登录链接已发送给您。您可以关闭此页面。",

		"confirm.as":   "以 %s 的身份登录？",
		"confirm.body": "继续即可登录。",

		"signin.failed":     "登录失败。请重试，或选择其他登录方式。",
		"signin.not-linked": "此邮箱已有账号。请使用您之前的方式登录。",
		"signin.not-mailed": "邮件未能发送。请检查邮箱地址后重试。",
		"signin.no-match":   "这些信息与任何账号都不匹配。请检查后重试。",
		"signin.required":   "请登录后查看此页面。",
		"signin.other":      "无法登录，请重试。",

		"error.title":                 "错误",
		"error.configuration.heading": "服务器错误",
		"error.configuration.body":    "此网站的登录功能未正确设置。这不是您的问题；网站管理者可以在日志中找到详情。",
		"error.denied.heading":        "访问被拒绝",
		"error.denied.body":           "此账号无法在此登录。如有其他账号，请换一个试试。",
		"error.too-many.heading":      "尝试次数过多",
		"error.too-many.body":         "请稍等片刻再试。",
		"error.busy.heading":          "请稍候",
		"error.busy.body":             "网站繁忙，未能及时响应。这不是您的问题，请稍后重试。",
		"error.verification.heading":  "无法登录",
		"error.verification.body":     "此登录链接已被使用或已过期。请重新获取。",
		"error.other.heading":         "错误",
		"error.other.body":            "出了点问题。请返回并重试。",

		"problem.again": "请先重新登录。",

		"status.400": "请求无效",
		"status.401": "未登录",
		"status.403": "禁止访问",
		"status.404": "未找到",
		"status.405": "方法不被允许",
		"status.409": "冲突",
		"status.410": "已不存在",
		"status.413": "请求过大",
		"status.415": "不支持的格式",
		"status.422": "无法处理",
		"status.429": "请求过多",
		"status.500": "服务器内部错误",
		"status.503": "服务不可用",

		"label.Email": "邮箱",

		"provider.Email": "邮箱",

		"label.Password": "密码",
		"label.Username": "用户名",
		"label.Name":     "姓名",

		"provider.Passkey":     "通行密钥",
		"provider.Credentials": "账号密码",
		"provider.Password":    "密码",

		"label.Forgot your password?": "忘记密码？",
		"label.Create an account":     "创建账号",

		"letter.title":                    "您的账号",
		"letter.time":                     "时间：%s",
		"letter.network":                  "网络：%s",
		"letter.until":                    "链接有效期至 %s。",
		"letter.code":                     "验证码：%s",
		"letter.sign-in.subject":          "登录 %s",
		"letter.sign-in.button":           "登录",
		"letter.sign-in.footer":           "如果您没有请求此邮件，可以忽略它。",
		"letter.verify.subject":           "确认您在 %s 的邮箱",
		"letter.verify.button":            "确认邮箱",
		"letter.verify.body":              "有人（希望是您本人）想用此邮箱注册。请在注册时使用的浏览器中打开链接；其他浏览器会要求输入注册时设置的密码。",
		"letter.verify.footer":            "如果不是您本人操作，请忽略此邮件：不会创建账号。",
		"letter.exists.subject":           "您在 %s 已有账号",
		"letter.exists.button":            "登录",
		"letter.exists.body":              "有人（可能是您本人）尝试用此邮箱注册，但该邮箱已有账号。未做任何更改。请用它登录；如果忘记了密码，请设置新密码。",
		"letter.exists.footer":            "如果不是您本人操作，则无需处理。",
		"letter.reset.subject":            "为 %s 设置新密码",
		"letter.reset.button":             "设置密码",
		"letter.reset.body":               "有人请求为此邮箱的账号设置新密码。",
		"letter.reset.footer":             "如果不是您本人操作，请忽略此邮件：密码保持不变。",
		"letter.password-changed.subject": "您在 %s 的密码已更改",
		"letter.password-changed.button":  "不是我本人",
		"letter.password-changed.body":    "您账号的密码已被设置、更改或移除。",
		"letter.password-changed.footer":  "如果是您本人操作，则无需处理。否则请立即设置新密码。",
		"letter.email-change.subject":     "确认您在 %s 的新邮箱",
		"letter.email-change.button":      "确认邮箱",
		"letter.email-change.body":        "您请求今后将此邮箱用于您的账号。",
		"letter.email-change.footer":      "如果不是您本人操作，请忽略此邮件：不会有任何更改。",
		"letter.email-changed.subject":    "您在 %s 的邮箱已更改",
		"letter.email-changed.button":     "撤销更改",
		"letter.email-changed.body":       "您的账号原使用此邮箱，现已改用其他邮箱。",
		"letter.email-changed.footer":     "如果是您本人操作，则无需处理。否则请撤销更改：这也会结束该账号的所有会话。",
		"letter.new-device.subject":       "%s 有新的登录",
		"letter.new-device.button":        "查看我的会话",
		"letter.new-device.body":          "有人在一个此前未见过的浏览器中登录了您的账号。",
		"letter.new-device.footer":        "如果是您本人操作，则无需处理。否则请结束该会话并更改登录方式。",
		"letter.invite.subject":           "邀请您加入 %s",
		"letter.invite.button":            "接受邀请",
		"letter.invite.body":              "您可以使用此邮箱注册。",
		"letter.invite.footer":            "如果您不想注册，请忽略此邮件：不会创建账号。",
		"letter.deleted.subject":          "您在 %s 的账号已删除",
		"letter.deleted.body":             "您的账号已被删除。",
		"letter.deleted.footer":           "如果不是您本人操作，请联系网站管理者。",

		"signin.to":        "登录 %s",
		"signin.mail-link": "通过邮件发送登录链接",
		"signin.show":      "显示密码",
		"signin.last":      "上次使用",
		"signin.who":       "您已以 %s 的身份登录。",
		"signin.continue":  "继续",

		"terms": "使用条款",

		"privacy": "隐私政策",

		"cancel": "取消",

		"verify.sent":  "已发送至 %s。",
		"verify.again": "重新发送，或使用其他邮箱",
	}}
}
