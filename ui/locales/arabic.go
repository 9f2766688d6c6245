package locales

import "github.com/latchkey-go/latchkey/ui"

// Arabic is Arabic, written from right to left. The map is the caller's.
//
//nolint:funlen,gosec // a table of words, none of which is a credential
func Arabic() ui.Locale {
	return ui.Locale{Tag: "ar", Dir: "rtl", Texts: map[string]string{
		"date": "2 January 2006",

		"moment": "2 January 2006، 15:04 UTC",

		"months": "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر",

		"report": "عند الإبلاغ عن هذه المشكلة، اذكر الرمز %s",

		"logo": "الشعار",

		"signin.title":         "تسجيل الدخول",
		"signin.heading":       "تسجيل الدخول",
		"signin.with":          "تسجيل الدخول عبر %s",
		"signin.none":          "لم يتم إعداد أي طريقة لتسجيل الدخول بعد.",
		"signin.email":         "البريد الإلكتروني",
		"signin.email.example": "name@example.com",

		"passkey.noscript":    "تتطلب مفاتيح المرور JavaScript، وهو معطّل في هذا المتصفح.",
		"passkey.waiting":     "في انتظار مفتاح المرور…",
		"passkey.cancelled":   "تم الإلغاء. يمكنك المحاولة مرة أخرى.",
		"passkey.failed":      "لم تنجح العملية. يُرجى المحاولة مرة أخرى.",
		"passkey.unsupported": "هذا المتصفح لا يدعم مفاتيح المرور.",

		"signout.title":    "تسجيل الخروج",
		"signout.heading":  "تسجيل الخروج",
		"signout.question": "هل تريد تسجيل الخروج؟",
		"signout.button":   "تسجيل الخروج",

		"verify.title":   "تحقق من بريدك",
		"verify.heading": "تحقق من بريدك الإلكتروني",
		"verify.body":    "رابط تسجيل الدخول في طريقه إليك. يمكنك إغلاق هذه الصفحة.",

		"confirm.as":   "هل تريد تسجيل الدخول باسم %s؟",
		"confirm.body": "تابع لتسجيل الدخول.",

		"signin.failed":     "لم تنجح العملية. حاول مرة أخرى أو اختر طريقة أخرى لتسجيل الدخول.",
		"signin.not-linked": "يوجد حساب بهذا البريد الإلكتروني بالفعل. سجّل الدخول بالطريقة التي استخدمتها من قبل.",
		"signin.not-mailed": "تعذّر إرسال الرسالة. تحقق من العنوان وحاول مرة أخرى.",
		"signin.no-match":   "هذه البيانات لا تطابق أي حساب. تحقق منها وحاول مرة أخرى.",
		"signin.required":   "سجّل الدخول لعرض هذه الصفحة.",
		"signin.other":      "تعذّر تسجيل دخولك. يُرجى المحاولة مرة أخرى.",

		"error.title":                 "خطأ",
		"error.configuration.heading": "خطأ في الخادم",
		"error.configuration.body": "" +
			"لم يتم إعداد تسجيل الدخول بشكل صحيح في هذا الموقع. لم ترتكب أي خطأ، ويمكن للقائمين عليه العثور " +
			"على التفاصيل في السجل.",
		"error.denied.heading":   "تم رفض الوصول",
		"error.denied.body":      "لا يمكن لهذا الحساب تسجيل الدخول هنا. إذا كان لديك حساب آخر فجرّبه.",
		"error.too-many.heading": "محاولات كثيرة جدًا",
		"error.too-many.body":    "انتظر قليلاً ثم حاول مرة أخرى.",
		"error.busy.heading":     "لحظة من فضلك",
		"error.busy.body": "" +
			"الموقع مشغول ولم يتمكن من الرد في الوقت المناسب. لم ترتكب أي خطأ، حاول مرة أخرى بعد لحظات.",
		"error.verification.heading": "تعذّر تسجيل الدخول",
		"error.verification.body":    "تم استخدام رابط تسجيل الدخول هذا من قبل أو انتهت صلاحيته. اطلب رابطًا جديدًا.",
		"error.other.heading":        "خطأ",
		"error.other.body":           "حدث خطأ ما. ارجع وحاول مرة أخرى.",

		"problem.again": "سجّل الدخول مرة أخرى أولاً.",

		"status.400": "طلب غير صالح",
		"status.401": "غير مصادق عليه",
		"status.403": "محظور",
		"status.404": "غير موجود",
		"status.405": "طريقة غير مسموح بها",
		"status.409": "تعارض",
		"status.410": "لم يعد موجودًا",
		"status.413": "الطلب كبير جدًا",
		"status.415": "صيغة غير مدعومة",
		"status.422": "تعذّرت المعالجة",
		"status.429": "طلبات كثيرة جدًا",
		"status.500": "خطأ داخلي في الخادم",
		"status.503": "الخدمة غير متاحة",

		"label.Email": "البريد الإلكتروني",

		"provider.Email": "البريد الإلكتروني",

		"label.Password": "كلمة المرور",
		"label.Username": "اسم المستخدم",
		"label.Name":     "الاسم",

		"provider.Passkey":     "مفتاح المرور",
		"provider.Credentials": "بيانات الدخول",
		"provider.Password":    "كلمة المرور",

		"label.Forgot your password?": "هل نسيت كلمة المرور؟",
		"label.Create an account":     "إنشاء حساب",

		"letter.title":           "حسابك",
		"letter.time":            "الوقت: %s",
		"letter.network":         "الشبكة: %s",
		"letter.until":           "يعمل الرابط حتى %s.",
		"letter.code":            "الرمز: %s",
		"letter.sign-in.subject": "تسجيل الدخول إلى %s",
		"letter.sign-in.button":  "تسجيل الدخول",
		"letter.sign-in.footer":  "إذا لم تطلب هذه الرسالة فيمكنك تجاهلها.",
		"letter.verify.subject":  "أكّد عنوانك لدى %s",
		"letter.verify.button":   "تأكيد عنواني",
		"letter.verify.body": "" +
			"يرغب شخص ما، نأمل أن يكون أنت، في التسجيل بهذا العنوان. افتح الرابط في المتصفح الذي سجّلت فيه، " +
			"فأي متصفح آخر سيطلب كلمة المرور التي اختيرت هناك.",
		"letter.verify.footer":  "إذا لم تكن أنت فتجاهل هذه الرسالة: لن يُنشأ أي حساب.",
		"letter.exists.subject": "لديك حساب في %s",
		"letter.exists.button":  "تسجيل الدخول",
		"letter.exists.body": "" +
			"حاول شخص ما، ربما أنت، التسجيل بهذا العنوان الذي له حساب بالفعل. لم يتغير شيء. سجّل الدخول به، " +
			"أو اختر كلمة مرور جديدة إذا نسيت كلمتك.",
		"letter.exists.footer":            "إذا لم تكن أنت فلا داعي لفعل أي شيء.",
		"letter.reset.subject":            "اختر كلمة مرور جديدة لـ %s",
		"letter.reset.button":             "اختيار كلمة مرور",
		"letter.reset.body":               "طلب شخص ما اختيار كلمة مرور جديدة للحساب المرتبط بهذا العنوان.",
		"letter.reset.footer":             "إذا لم تكن أنت فتجاهل هذه الرسالة: تبقى كلمة المرور كما هي.",
		"letter.password-changed.subject": "تم تغيير كلمة مرورك في %s",
		"letter.password-changed.button":  "لم أكن أنا",
		"letter.password-changed.body":    "تم تعيين كلمة مرور حسابك أو تغييرها أو إزالتها.",
		"letter.password-changed.footer":  "إذا كنت أنت فلا داعي لفعل أي شيء. وإلا فاختر كلمة مرور جديدة الآن.",
		"letter.email-change.subject":     "أكّد عنوانك الجديد لدى %s",
		"letter.email-change.button":      "تأكيد عنواني",
		"letter.email-change.body":        "طلبت استخدام هذا العنوان لحسابك من الآن فصاعدًا.",
		"letter.email-change.footer":      "إذا لم تكن أنت فتجاهل هذه الرسالة: لن يتغير شيء.",
		"letter.email-changed.subject":    "تم تغيير عنوانك في %s",
		"letter.email-changed.button":     "التراجع عن التغيير",
		"letter.email-changed.body":       "كان لحسابك هذا العنوان وأصبح له الآن عنوان آخر.",
		"letter.email-changed.footer": "" +
			"إذا كنت أنت فلا داعي لفعل أي شيء. وإلا فتراجع عن التغيير: سينهي ذلك أيضًا كل جلسات الحساب.",
		"letter.new-device.subject": "تسجيل دخول جديد إلى %s",
		"letter.new-device.button":  "عرض جلساتي",
		"letter.new-device.body":    "سجّل شخص ما الدخول إلى حسابك من متصفح لم يُعرف من قبل.",
		"letter.new-device.footer": "" +
			"إذا كنت أنت فلا داعي لفعل أي شيء. وإلا فأنهِ تلك الجلسة وغيّر طريقة تسجيل دخولك.",
		"letter.invite.subject":  "دعوة إلى %s",
		"letter.invite.button":   "قبول الدعوة",
		"letter.invite.body":     "يمكنك التسجيل بهذا العنوان.",
		"letter.invite.footer":   "إذا لم ترغب في ذلك فتجاهل هذه الرسالة: لن يُنشأ أي حساب.",
		"letter.deleted.subject": "تم حذف حسابك في %s",
		"letter.deleted.body":    "تم حذف حسابك.",
		"letter.deleted.footer":  "إذا لم تكن أنت فتواصل مع القائمين على الموقع.",

		"signin.to":        "تسجيل الدخول إلى %s",
		"signin.mail-link": "أرسل إليّ رابط دخول بالبريد",
		"signin.show":      "إظهار كلمة المرور",
		"signin.last":      "آخر استخدام",
		"signin.who":       "لقد سجّلت الدخول باسم %s.",
		"signin.continue":  "متابعة",

		"terms": "شروط الاستخدام",

		"privacy": "الخصوصية",

		"cancel": "إلغاء",

		"verify.sent":  "سيصل إلى %s.",
		"verify.again": "أرسله مرة أخرى أو استخدم عنوانًا آخر",

		"password.sign-up.heading": "إنشاء حساب",
		"password.sign-up.button":  "إنشاء حساب",
		"password.sign-up.have":    "لديّ حساب بالفعل",
		"password.email":           "البريد الإلكتروني",
		"password.name":            "الاسم (اختياري)",
		"password.password":        "كلمة المرور",
		"password.new":             "كلمة المرور الجديدة",
		"password.current":         "كلمة المرور الحالية",
		"password.rule":            "الحد الأدنى لعدد الأحرف: %s. يسهل تذكّر عدة كلمات متتالية.",
		"password.sent.heading":    "تحقق من بريدك الإلكتروني",
		"password.sent.body": "" +
			"إذا كان العنوان صالحًا للاستخدام هنا فالرسالة في طريقها إليك. افتح الرابط الذي فيها في هذا " +
			"المتصفح.",
		"password.sent.more":       "لم يصلك شيء بعد بضع دقائق؟ ابحث في البريد غير المرغوب فيه وتأكد من صحة العنوان.",
		"password.confirm.heading": "أكّد عنوانك",
		"password.confirm.body": "" +
			"هذا ليس المتصفح الذي طُلب فيه الحساب. أدخل كلمة المرور التي اختيرت هناك. إذا لم تسجّل فأغلق هذه " +
			"الصفحة: لن يُنشأ أي حساب.",
		"password.confirm.button": "تأكيد وتسجيل الدخول",
		"password.forgot.heading": "هل نسيت كلمة المرور؟",
		"password.forgot.body":    "أدخل عنوانك وسنرسل إليك رابطًا لاختيار كلمة مرور جديدة.",
		"password.forgot.button":  "إرسال الرابط",
		"password.forgot.back":    "العودة إلى تسجيل الدخول",
		"password.reset.heading":  "اختر كلمة مرور جديدة",
		"password.reset.body":     "سيتم تسجيل الخروج من جميع الأجهزة.",
		"password.reset.button":   "تعيين كلمة المرور",
		"password.change.heading": "تغيير كلمة المرور",
		"password.change.button":  "تغيير كلمة المرور",
		"password.change.forgot":  "لا أعرف كلمة المرور الحالية",
		"password.done.heading":   "تم تعيين كلمة المرور",
		"password.done.body":      "تم تسجيل الخروج من الأجهزة الأخرى، وأرسلنا إليك رسالة بذلك.",
		"password.done.sign-in":   "تسجيل الدخول",
		"password.done.go-on":     "متابعة",
		"password.closed":         "لا يمكن التسجيل الذاتي هنا.",
		"password.changed":        "تغيّرت كلمة مرورك للتو في مكان آخر. حاول مرة أخرى بالجديدة.",
		"password.wrong":          "هذه ليست كلمة مرورك الحالية.",
		"password.wrong-sign-up":  "أدخل كلمة المرور التي سجّلت بها.",
		"password.link":           "استُخدم هذا الرابط من قبل أو انتهت صلاحيته أو قطعه برنامج البريد. اطلب رابطًا جديدًا.",
		"password.short":          "استخدم كلمة مرور أطول، والحد الأدنى لعدد الأحرف: %s. يسهل تذكّر عدة كلمات متتالية.",
		"password.long":           "استخدم كلمة مرور أقصر.",
		"password.context":        "تتكون كلمة المرور هذه من عنوانك أو من اسم هذا الموقع. اختر غيرها.",
		"password.common":         "كلمة المرور هذه من أول ما يُجرَّب. اختر غيرها.",
		"password.breached":       "ظهرت كلمة المرور هذه في تسريب بيانات في مكان آخر. اختر غيرها.",
		"password.address":        "تحقق من العنوان.",
		"password.bad-name":       "استخدم اسمًا أقصر أو أبسط.",
		"password.busy":           "يسجّل عدد كبير من الأشخاص الدخول الآن. حاول مرة أخرى بعد ثوانٍ.",
	}}
}
