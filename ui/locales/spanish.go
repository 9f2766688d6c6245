package locales

import "github.com/latchkey-go/latchkey/ui"

// Spanish returns the texts in Spanish, with the formal address "usted". The caller owns the map.
//
//nolint:funlen,gosec // a table of texts without credentials
func Spanish() ui.Locale {
	return ui.Locale{Tag: "es", Texts: map[string]string{
		"date": "2 de January de 2006",

		"moment": "2 de January de 2006, 15:04 UTC",

		"months": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",

		"report": "Si informa de este problema, indique el código %s",

		"report.copy":   "Copiar",
		"report.copied": "Copiado",

		"logo": "Logotipo",

		"signin.title":         "Iniciar sesión",
		"signin.heading":       "Iniciar sesión",
		"signin.with":          "Iniciar sesión con %s",
		"signin.none":          "Aún no se ha configurado ninguna forma de iniciar sesión.",
		"signin.email":         "Correo electrónico",
		"signin.email.example": "nombre@example.com",

		"challenge.noscript":      "Active JavaScript para confirmar que es una persona.",
		"signin.challenge":        "No hemos podido confirmar que es una persona. Inténtelo de nuevo.",
		"passkey.noscript":        "Las llaves de acceso necesitan JavaScript, que está desactivado en este navegador.",
		"passkey.waiting":         "Esperando su llave de acceso…",
		"passkey.cancelled":       "Se ha cancelado. Puede intentarlo de nuevo.",
		"passkey.failed":          "No ha funcionado. Inténtelo de nuevo.",
		"passkey.unsupported":     "Este navegador no admite llaves de acceso.",
		"passkey.sign-up.heading": "Cree su cuenta",
		"passkey.sign-up.body": "" +
			"Inicie sesión con una llave de acceso en lugar de una contraseña. Primero confirme su correo " +
			"electrónico.",
		"passkey.sign-up.button": "Continuar",
		"passkey.sign-up.sent": "" +
			"Si esa dirección sirve para registrarse, hemos enviado un enlace. Ábralo para crear su llave de " +
			"acceso.",
		"passkey.sign-up.sent-code": "" +
			"Si esa dirección sirve para registrarse, hemos enviado un código y un enlace. Escriba el código " +
			"aquí o abra el enlace para crear su llave de acceso.",
		"passkey.sign-up.exists": "Esta dirección ya tiene una cuenta. Inicie sesión.",
		"passkey.create.heading": "Cree su llave de acceso",
		"passkey.create.body": "" +
			"Su dispositivo le pedirá su huella, su rostro o su PIN. Desde entonces iniciará sesión así en " +
			"esta cuenta:",
		"passkey.create.other": "" +
			"Ha abierto este enlace en otro navegador. Para continuar aquí, cree la llave de acceso en este " +
			"dispositivo. ¿No se ha registrado? Cierre esta página: no se creará ninguna cuenta.",
		"passkey.create.button": "Crear llave de acceso",
		"passkey.create.failed": "No hemos podido verificar su llave de acceso. Inténtelo de nuevo.",

		"signout.title":    "Cerrar sesión",
		"signout.heading":  "Cerrar sesión",
		"signout.question": "¿Quiere cerrar la sesión?",
		"signout.button":   "Cerrar sesión",

		"verify.title":   "Revise su correo",
		"verify.heading": "Revise su correo",
		"verify.body":    "Le hemos enviado un enlace para iniciar sesión. Puede cerrar esta página.",

		"confirm.as":   "¿Iniciar sesión como %s?",
		"confirm.body": "Continúe para iniciar sesión.",

		"signin.failed":     "No ha funcionado. Inténtelo de nuevo o elija otra forma de iniciar sesión.",
		"signin.not-linked": "Ya existe una cuenta con este correo electrónico. Inicie sesión como lo hizo antes.",
		"signin.not-mailed": "No hemos podido enviar el correo. Compruebe la dirección e inténtelo de nuevo.",
		"signin.no-match":   "Estos datos no corresponden a ninguna cuenta. Compruébelos e inténtelo de nuevo.",
		"signin.incorrect":  "Correo o contraseña incorrectos.",
		"signin.mail-only": "" +
			"Demasiadas contraseñas incorrectas seguidas. Elija una nueva por correo o inicie sesión de otra forma.",
		"signin.required": "Inicie sesión para continuar.",
		"signin.stale": "" +
			"Ese servicio no ha confirmado que acaba de iniciar sesión. Use otro método de inicio de " +
			"sesión.",
		"signin.other": "No hemos podido iniciar su sesión. Inténtelo de nuevo.",
		"reauth.none": "" +
			"Ninguno de sus métodos de inicio de sesión puede confirmarlo. Añada una clave de acceso a su " +
			"cuenta.",
		"reauth.body": "" +
			"Ha iniciado sesión como %s. Por su seguridad, confírmelo con uno de sus métodos de inicio de " +
			"sesión.",
		"reauth.heading": "Confirme que es usted",
		"signin.other-user": "" +
			"Ese inicio de sesión pertenece a otra cuenta. Use la cuenta con la que ha iniciado sesión.",
		"code.use-link": "" +
			"Demasiados códigos incorrectos. Abra en su lugar el enlace del correo en este navegador.",
		"code.too-many": "Demasiados códigos incorrectos. Inténtelo más tarde.",
		"code.expired":  "Ese código ya no es válido. Solicite uno nuevo.",
		"code.wrong":    "Ese código no es correcto. Intentos restantes: %s.",
		"code.mail":     "Enviarme un código por correo",
		"signin.guest":  "Continuar como invitado",
		"code.other":    "Usar otro método",
		"code.again":    "Enviar un código nuevo",
		"code.label":    "Código",
		"code.sent":     "Hemos enviado un código a %s. Introdúzcalo aquí.",
		"code.or-link": "" +
			"Le hemos enviado un código y un enlace por correo. Introduzca el código aquí o abra el enlace.",
		"code.body": "Le hemos enviado un código por correo. Introdúzcalo aquí.",

		"switch.heading":        "Ya ha iniciado sesión",
		"switch.keep":           "Seguir como %s",
		"switch.other":          "Cambiar a %s",
		"error.expired.heading": "El inicio de sesión ha caducado",
		"error.expired.body":    "Empezó a iniciar sesión hace más de 15 minutos o en otro navegador.",
		"error.browser.heading": "Otro navegador",
		"error.browser.body":    "Empezó a iniciar sesión en otro navegador. Vuelva a iniciar sesión para continuar aquí.",
		"error.used.heading":    "Ya utilizado",
		"error.used.body": "Este inicio de sesión ya se ha completado o cancelado. " +
			"Vuelva a iniciar sesión para continuar.",
		"error.again": "Volver a iniciar sesión",

		"error.forbidden.heading": "No tiene acceso a esta página",
		"error.forbidden.body":    "Su cuenta no tiene permiso para abrirla.",
		"error.forbidden.back":    "Volver",
		"error.forbidden.other":   "Usar otra cuenta",
		"error.not-found.heading": "Página no encontrada",
		"error.not-found.body":    "No hay nada en esta dirección. Compruebe que esté bien escrita.",
		"error.not-found.home":    "Ir a la página de inicio",

		"error.title":                 "Error",
		"error.configuration.heading": "Error del servidor",
		"error.configuration.body": "" +
			"El inicio de sesión no está bien configurado en este sitio. Usted no ha hecho nada mal; sus " +
			"responsables encontrarán los detalles en el registro.",
		"error.denied.heading":   "Acceso denegado",
		"error.denied.body":      "Esta cuenta no puede iniciar sesión aquí. Si tiene otra, pruebe con ella.",
		"error.too-many.heading": "Demasiados intentos",
		"error.too-many.body":    "Espere un momento e inténtelo de nuevo.",
		"error.busy.heading":     "Un momento",
		"error.busy.body": "" +
			"Este sitio está ocupado y no ha podido responder a tiempo. Usted no ha hecho nada mal; " +
			"inténtelo de nuevo en un momento.",
		"error.verification.heading": "No se puede iniciar sesión",
		"error.verification.body":    "Este enlace ya se ha utilizado o ha caducado. Solicite uno nuevo.",
		"error.other.heading":        "Error",
		"error.other.body":           "Algo ha salido mal. Vuelva atrás e inténtelo otra vez.",

		"problem.again": "Vuelva a iniciar sesión primero.",
		"problem.guest": "Inicie sesión primero. Un invitado no puede hacer esto.",

		"status.400": "Solicitud incorrecta",
		"status.401": "No autenticado",
		"status.403": "Prohibido",
		"status.404": "No encontrado",
		"status.405": "Método no permitido",
		"status.409": "Conflicto",
		"status.410": "Ya no existe",
		"status.413": "Solicitud demasiado grande",
		"status.415": "Formato no admitido",
		"status.422": "No se puede procesar",
		"status.429": "Demasiadas solicitudes",
		"status.500": "Error interno del servidor",
		"status.503": "Servicio no disponible",

		"label.Email or username": "Correo electrónico o nombre de usuario",
		"label.Email":             "Correo electrónico",

		"provider.Email": "correo electrónico",

		"label.Password": "Contraseña",
		"label.Username": "Nombre de usuario",
		"label.Name":     "Nombre",

		"provider.Passkey":     "llave de acceso",
		"provider.Credentials": "sus credenciales",
		"provider.Password":    "contraseña",

		"label.Forgot your password?":            "¿Ha olvidado su contraseña?",
		"label.Create an account":                "Crear una cuenta",
		"label.Create an account with a passkey": "Crear una cuenta con una llave de acceso",
		"label.New here?":                        "¿Es nuevo aquí?",

		"email.title":           "Su cuenta",
		"email.time":            "Fecha: %s",
		"email.device":          "Dispositivo: %s",
		"email.why.account":     "%s envió este correo porque se trata de su cuenta.",
		"email.why.entered":     "%s envió este correo porque allí se introdujo esta dirección.",
		"email.why.invited":     "%s envió este correo porque ha recibido una invitación.",
		"email.network":         "Rango de IP: %s",
		"email.until":           "El enlace funciona hasta el %s.",
		"email.code":            "Código: %s",
		"email.otherwise":       "Si el botón no funciona, abra esta dirección:",
		"email.sign-in.subject": "Iniciar sesión en %s",
		"email.sign-in.button":  "Iniciar sesión",
		"email.sign-in.footer":  "Si no ha solicitado este correo, puede ignorarlo.",
		"email.reauth.footer": "" +
			"No comparta este código: no se lo pedimos en ningún otro sitio. Si no lo solicitó, cierre " +
			"todas sus sesiones.",
		"email.reauth.body": "" +
			"Introduzca este código en la página en la que lo solicitó. Es válido durante 10 minutos.",
		"email.reauth.subject": "Su código para %s",
		"email.verify.subject": "Confirme su dirección para %s",
		"email.verify.button":  "Confirmar mi dirección",
		"email.verify.body": "" +
			"Alguien, esperamos que usted, quiere registrarse con esta dirección. Abra el enlace en el " +
			"navegador en el que se registró; cualquier otro pedirá la contraseña que se eligió allí.",
		"email.verify.footer":  "Si no fue usted, ignore este correo: no se creará ninguna cuenta.",
		"email.exists.subject": "Usted tiene una cuenta en %s",
		"email.exists.button":  "Iniciar sesión",
		"email.exists.body": "" +
			"Alguien, quizá usted, ha intentado registrarse con esta dirección, que ya tiene una cuenta. " +
			"Nada ha cambiado. Inicie sesión con ella o elija una contraseña nueva si ha olvidado la suya.",
		"email.exists.footer":          "Si no fue usted, no tiene que hacer nada.",
		"email.verify-passkey.subject": "Confirme su dirección para %s",
		"email.verify-passkey.button":  "Crear mi llave de acceso",
		"email.verify-passkey.body":    "Confirme su dirección y cree una llave de acceso para terminar de crear su cuenta.",
		"email.verify-passkey.footer":  "Si no fue usted, ignore este correo: no se creará ninguna cuenta.",
		"email.exists-passkey.subject": "Usted tiene una cuenta en %s",
		"email.exists-passkey.button":  "Iniciar sesión",
		"email.exists-passkey.body": "" +
			"Alguien, quizá usted, ha intentado registrarse con esta dirección, que ya tiene una cuenta. Nada " +
			"ha cambiado. Inicie sesión como siempre.",
		"email.exists-passkey.footer":    "Si no fue usted, no tiene que hacer nada.",
		"email.reset.subject":            "Elija una contraseña nueva para %s",
		"email.reset.button":             "Elegir una contraseña",
		"email.reset.body":               "Alguien ha pedido elegir una contraseña nueva para la cuenta con esta dirección.",
		"email.reset.footer":             "Si no fue usted, ignore este correo: la contraseña sigue siendo la misma.",
		"email.password-changed.subject": "Su contraseña de %s ha cambiado",
		"email.password-changed.button":  "No fui yo",
		"email.password-changed.body":    "La contraseña de su cuenta se ha establecido, cambiado o eliminado.",
		"email.password-changed.footer": "" +
			"Si fue usted, no tiene que hacer nada. Si no, elija ahora una contraseña nueva.",
		"email.email-change.subject":   "Confirme su nueva dirección para %s",
		"email.email-change.button":    "Confirmar mi dirección",
		"email.email-change.body":      "Ha pedido usar esta dirección para su cuenta a partir de ahora.",
		"email.email-change.footer":    "Si no fue usted, ignore este correo: nada cambia.",
		"email.email-changed.subject":  "Su dirección de %s ha cambiado",
		"email.email-changed.button":   "Deshacer el cambio",
		"email.email-changed.body":     "Su cuenta tenía esta dirección y ahora tiene otra.",
		"email.email-changed.footer":   "Si ha sido usted, no tiene que hacer nada. Si no, deshaga el cambio.",
		"email.email-changed.sessions": "Eso también cierra todas las sesiones de la cuenta.",
		"email.service":                "Servicio: %s",
		"email.passkey-added.subject":  "Nueva clave de acceso para %s",
		"email.passkey-added.button":   "No fui yo",
		"email.passkey-added.body": "" +
			"Se ha añadido una clave de acceso a su cuenta. Con ella se puede iniciar sesión.",
		"email.passkey-added.footer": "" +
			"Si ha sido usted, no tiene que hacer nada. Si no, proteja su cuenta ahora.",
		"email.passkey-removed.subject": "Clave de acceso eliminada de %s",
		"email.passkey-removed.button":  "No fui yo",
		"email.passkey-removed.body": "" +
			"Se ha eliminado una clave de acceso de su cuenta. Ya no se puede iniciar sesión con ella.",
		"email.passkey-removed.footer": "" +
			"Si ha sido usted, no tiene que hacer nada. Si no, proteja su cuenta ahora.",
		"email.account-linked.subject": "Nuevo método de inicio de sesión para %s",
		"email.account-linked.button":  "No fui yo",
		"email.account-linked.body": "" +
			"Se ha vinculado a su cuenta una cuenta de otro servicio. Con ella se puede iniciar sesión.",
		"email.account-linked.footer": "" +
			"Si ha sido usted, no tiene que hacer nada. Si no, proteja su cuenta ahora.",
		"email.account-unlinked.subject": "Método de inicio de sesión eliminado de %s",
		"email.account-unlinked.button":  "No fui yo",
		"email.account-unlinked.body": "" +
			"Se ha desvinculado de su cuenta una cuenta de otro servicio. Ya no se puede iniciar sesión con " +
			"ella.",
		"email.account-unlinked.footer": "" +
			"Si ha sido usted, no tiene que hacer nada. Si no, proteja su cuenta ahora.",
		"email.factor-added.subject": "Nuevo segundo factor para %s",
		"email.factor-added.button":  "No fui yo",
		"email.factor-added.body": "" +
			"Se ha añadido a su cuenta un segundo factor, por ejemplo una aplicación de " +
			"autenticación.",
		"email.factor-added.footer":    "Si ha sido usted, no tiene que hacer nada. Si no, proteja su cuenta ahora.",
		"email.factor-removed.subject": "Segundo factor eliminado de %s",
		"email.factor-removed.button":  "No fui yo",
		"email.factor-removed.body":    "Se ha eliminado un segundo factor de su cuenta.",
		"email.factor-removed.footer":  "Si ha sido usted, no tiene que hacer nada. Si no, proteja su cuenta ahora.",
		"email.factors-reset.subject":  "Segundos factores restablecidos en %s",
		"email.factors-reset.button":   "No fui yo",
		"email.factors-reset.body":     "El equipo de soporte ha eliminado todos los segundos factores de su cuenta.",
		"email.factors-reset.footer":   "Si ha sido usted, no tiene que hacer nada. Si no, proteja su cuenta ahora.",
		"email.recovery-used.subject":  "Código de recuperación usado en %s",
		"email.recovery-used.button":   "No fui yo",
		"email.recovery-used.body": "" +
			"Se ha iniciado sesión con uno de sus códigos de recuperación. Ese código ya no es " +
			"válido.",
		"email.recovery-used.footer":     "Si ha sido usted, no tiene que hacer nada. Si no, proteja su cuenta ahora.",
		"email.recovery-renewed.subject": "Nuevos códigos de recuperación para %s",
		"email.recovery-renewed.button":  "No fui yo",
		"email.recovery-renewed.body": "" +
			"Se han creado nuevos códigos de recuperación para su cuenta. Los códigos anteriores ya " +
			"no son válidos.",
		"email.recovery-renewed.footer": "Si ha sido usted, no tiene que hacer nada. Si no, proteja su cuenta ahora.",
		"email.new-device.subject":      "Nuevo inicio de sesión en %s",
		"email.new-device.button":       "No fui yo",
		"email.new-device.body":         "Alguien ha iniciado sesión en su cuenta desde un navegador que no se conocía.",
		"email.new-device.footer":       "Si ha sido usted, no tiene que hacer nada. Si no, proteja su cuenta ahora.",
		"email.invite.subject":          "Le han invitado a %s",
		"email.invite.button":           "Aceptar la invitación",
		"email.invite.body":             "Puede registrarse con esta dirección.",
		"email.invite.footer":           "Si no lo desea, ignore este correo: no se creará ninguna cuenta.",

		"email.deletion-scheduled.subject": "Su cuenta en %s se eliminará",
		"email.deletion-scheduled.button":  "Conservar mi cuenta",
		"email.deletion-scheduled.body": "" +
			"Ha solicitado eliminar su cuenta. La eliminaremos junto con todos sus datos en la fecha " +
			"indicada abajo. Hasta entonces, puede conservarla.",
		"email.deletion-scheduled.footer": "Si no fue usted, conserve su cuenta y elija una contraseña nueva.",

		"email.deleted.subject": "Su cuenta en %s se ha eliminado",
		"email.deleted.body":    "Su cuenta se ha eliminado.",
		"email.deleted.footer":  "Si no fue usted, póngase en contacto con los responsables del sitio.",

		"signin.to":             "Iniciar sesión en %s",
		"signin.mail-link":      "Enviarme un enlace de acceso",
		"signin.show":           "Mostrar la contraseña",
		"signin.last":           "Usado la última vez",
		"signin.remember":       "Mantener la sesión iniciada",
		"signin.who":            "Ha iniciado sesión como %s.",
		"impersonation.who":     "Está usando la cuenta de %s.",
		"impersonation.title":   "Cuenta de otra persona",
		"impersonation.end":     "Volver a su cuenta",
		"impersonation.refused": "No puede hacer esto mientras usa la cuenta de otra persona.",
		"impersonation.too-large": "Las dos sesiones juntas son demasiado grandes para este sitio. " +
			"Sus responsables encuentran el límite en el registro.",
		"signin.continue": "Continuar",

		"terms": "Condiciones de uso",

		"privacy": "Privacidad",

		"cancel": "Cancelar",

		"verify.sent": "Se envía a %s.",

		"signin.or":       "o",
		"signin.canceled": "El inicio de sesión se canceló o no terminó. Inténtelo de nuevo o use otro método.",

		"password.sign-up.heading": "Crear una cuenta",
		"password.sign-up.button":  "Crear cuenta",
		"password.sign-up.have":    "Ya tengo una cuenta",
		"password.email":           "Correo electrónico",
		"password.name":            "Nombre (opcional)",
		"password.password":        "Contraseña",
		"password.new":             "Contraseña nueva",
		"password.current":         "Contraseña actual",
		"password.rule":            "Mínimo de caracteres: %s. Unas cuantas palabras seguidas se recuerdan bien.",
		"password.sent.body": "" +
			"Si la dirección se puede usar aquí, hay un correo en camino. Abra su enlace en este navegador.",
		"password.sent.reset": "" +
			"Si existe una cuenta con ese correo, " +
			"hemos enviado un enlace para restablecer la contraseña.",
		"password.sent.code": "" +
			"Si la dirección se puede usar aquí, hay un código y un enlace en camino. Introduzca " +
			"el código aquí o abra el enlace en este navegador.",
		"password.sent.reset-code": "" +
			"Si existe una cuenta con ese correo, hemos enviado un código y un enlace para " +
			"restablecer la contraseña. Introduzca el código aquí o abra el enlace.",
		"password.confirm.heading": "Confirme su dirección",
		"password.confirm.body": "" +
			"Este no es el navegador en el que se pidió la cuenta. Escriba la contraseña que se eligió allí. " +
			"Si usted no se registró, cierre esta página: no se creará ninguna cuenta.",
		"password.confirm.button": "Confirmar e iniciar sesión",
		"password.confirm.device": "" +
			"¿No conoce la contraseña? Abra este enlace en el dispositivo en el que se registró.",
		"password.confirm.start-over": "Empezar de nuevo",
		"password.forgot.heading":     "¿Ha olvidado su contraseña?",
		"password.forgot.body":        "Escriba su dirección y le enviaremos un enlace para elegir una nueva.",
		"password.forgot.button":      "Enviar el enlace",
		"password.forgot.back":        "Volver al inicio de sesión",
		"password.reset.heading":      "Elija una contraseña nueva",
		"password.reset.body":         "Se cerrará la sesión en todos los dispositivos.",
		"password.reset.methods": "" +
			"Estos métodos de inicio de sesión se añadieron en el último mes. Marque los que no reconozca y " +
			"los eliminaremos:",
		"password.reset.added":    "añadido el %s",
		"password.passkey":        "Clave de acceso",
		"password.reset.button":   "Guardar la contraseña",
		"password.change.heading": "Cambiar la contraseña",
		"password.change.button":  "Cambiar la contraseña",
		"password.change.forgot":  "No sé mi contraseña actual",
		"password.done.heading":   "Su contraseña se ha guardado",
		"password.done.body": "" +
			"Se ha cerrado la sesión en los demás dispositivos y le hemos enviado un correo al respecto.",
		"password.done.only": "Le hemos enviado un correo al respecto.",
		"password.done.removed": "" +
			"Hemos eliminado los métodos de inicio de sesión que marcó o que se añadieron antes de " +
			"verificar su dirección: %s. Podrá volver a añadir los suyos después de iniciar sesión.",
		"password.done.sign-in":  "Iniciar sesión",
		"password.done.go-on":    "Continuar",
		"password.closed":        "Aquí nadie puede registrarse por su cuenta.",
		"password.changed":       "Su contraseña acaba de cambiarse en otro lugar. Inténtelo de nuevo con la nueva.",
		"password.wrong":         "Esta no es su contraseña actual.",
		"password.wrong-sign-up": "Escriba la contraseña con la que se registró.",
		"password.other": "Desde entonces se abrió otro enlace en este navegador. No se " +
			"ha cambiado nada. Vuelva a abrir el enlace de su correo.",
		"password.link": "" +
			"Este enlace ya se ha usado, ha caducado o su programa de correo lo ha cortado. Solicite uno " +
			"nuevo.",
		"password.short": "" +
			"Use una contraseña más larga; mínimo de caracteres: %s. Unas cuantas palabras seguidas se " +
			"recuerdan bien.",
		"password.long":             "Use una contraseña más corta.",
		"password.context":          "Esta contraseña se compone de su dirección o del nombre de este sitio. Elija otra.",
		"password.common":           "Esta contraseña está entre las primeras que se prueban. Elija otra.",
		"password.breached":         "Esta contraseña ha aparecido en una filtración de datos en otro sitio. Elija otra.",
		"password.username.heading": "Elegir un nombre de usuario",
		"password.username.label":   "Nombre de usuario",
		"password.username.body": "" +
			"Puede iniciar sesión con él en lugar de su correo electrónico. Podrá " +
			"cambiarlo más adelante, pero no de inmediato.",
		"password.username.button": "Guardar nombre de usuario",
		"password.username.invalid": "" +
			"Use de 3 a 32 letras y dígitos. Entre ellos se permiten puntos, " +
			"guiones y guiones bajos.",
		"password.username.taken": "Este nombre de usuario no está disponible. Elija otro.",
		"password.username.soon": "" +
			"Ha cambiado su nombre de usuario hace poco. Inténtelo de nuevo más " +
			"tarde.",
		"password.username.missing": "Elija primero un nombre de usuario.",
		"password.email.optional":   "Correo electrónico (opcional)",
		"password.email.hint": "" +
			"Sin correo electrónico, solo un código de recuperación puede restablecer su contraseña.",
		"password.codes.body": "" +
			"Si olvida su contraseña, estos códigos le devuelven el acceso a su cuenta. Cada código " +
			"sirve una sola vez. Solo los mostramos ahora.",
		"password.recover.heading": "Usar un código de recuperación",
		"password.recover.body": "" +
			"Escriba su nombre de usuario y uno de sus códigos de recuperación, y elija una contraseña " +
			"nueva.",
		"password.recover.wrong": "El nombre de usuario o el código de recuperación no es correcto.",
		"password.recovery.left": "Códigos de recuperación restantes: %s.",
		"password.recovery.low": "" +
			"Códigos de recuperación restantes: %s. Inicie sesión y cree otros nuevos en la página de " +
			"su cuenta.",
		"password.recovery.body":   "Los códigos nuevos sustituyen a todos los que tiene ahora.",
		"password.recovery.remove": "Quitar todos los códigos",
		"password.recovery.only": "" +
			"Añada primero un correo electrónico. Sin él, estos códigos son la única manera de volver " +
			"a entrar en su cuenta.",
		"password.exposed.code": "" +
			"Su contraseña ha aparecido en una filtración de datos, por lo que otras personas podrían " +
			"conocerla. Elija una nueva con uno de sus códigos de recuperación.",
		"password.done.alone": "Hemos cerrado la sesión en sus otros dispositivos.",
		"password.exposed.body": "" +
			"Su contraseña ha aparecido en una filtración de datos, por lo que otras personas podrían " +
			"conocerla. Le enviaremos un código por correo electrónico. Introdúzcalo aquí y elija una " +
			"contraseña nueva.",
		"password.exposed.none": "" +
			"Su contraseña ha aparecido en una filtración de datos, por lo que otras personas podrían " +
			"conocerla. Su cuenta no tiene correo electrónico, así que no podemos comprobar que es " +
			"usted. Inicie sesión de otra forma o contacte con el servicio de asistencia.",
		"password.exposed.button": "Enviarme un código",
		"password.exposed.again":  "Enviarme otro código",
		"password.address":        "Compruebe la dirección.",
		"password.bad-name":       "Use un nombre más corto o más sencillo.",
		"password.field.invalid":  "El texto es demasiado largo o contiene caracteres no permitidos.",
		"password.field.required": "Rellene este campo.",
		"password.busy": "" +
			"Hay demasiadas personas iniciando sesión en este momento. Inténtelo de nuevo en unos segundos.",

		"factor.heading":   "Verificación en dos pasos",
		"factor.enter.app": "Introduzca el código de su aplicación de autenticación.",
		"factor.enter.recovery": "" +
			"Introduzca uno de sus códigos de recuperación. Cada código sirve una sola vez.",
		"factor.code":          "Código",
		"factor.recovery-code": "Código de recuperación",
		"factor.continue":      "Continuar",
		"factor.cancel":        "Cancelar",
		"factor.other":         "Usar otro método",
		"factor.use.app":       "Aplicación de autenticación",
		"factor.use.recovery":  "Código de recuperación",
		"factor.lost":          "He perdido mi teléfono",
		"factor.lost.body": "" +
			"Use un código de recuperación que guardó al activar la verificación en dos pasos. Después, " +
			"quite de su cuenta el teléfono perdido.",
		"factor.lost.none": "" +
			"No le quedan códigos de recuperación. Contacte con el servicio de asistencia para recuperar su " +
			"cuenta.",
		"factor.enroll.heading": "Configurar una aplicación de autenticación",
		"factor.enroll.scan": "" +
			"Escanee este código QR con una aplicación de autenticación en su teléfono.",
		"factor.enroll.qr":       "Código QR con la clave de configuración",
		"factor.enroll.type":     "O escriba esta clave de configuración en la aplicación:",
		"factor.enroll.required": "Su cuenta necesita la verificación en dos pasos.",
		"factor.enroll.name":     "Nombre de esta aplicación (opcional)",
		"factor.enroll.code":     "Código de la aplicación",
		"factor.enroll.others":   "Cerrar todas las demás sesiones",
		"factor.enroll.button":   "Activar",
		"factor.codes.heading":   "Guarde sus códigos de recuperación",
		"factor.codes.body": "" +
			"Si pierde el teléfono, estos códigos son la única manera de entrar en su cuenta. Cada código " +
			"sirve una sola vez. Solo los mostramos ahora.",
		"factor.codes.download": "Descargar",
		"factor.codes.copy":     "Copiar",
		"factor.codes.copied":   "Copiado",
		"factor.codes.print":    "Imprimir",
		"factor.codes.saved":    "Los he guardado",
		"factor.off":            "Desactivada. Añada un segundo paso para que su contraseña no baste por sí sola.",
		"factor.app":            "Aplicación de autenticación",
		"factor.added":          "Añadida el %s",
		"factor.last-used":      "último uso el %s",
		"factor.remove":         "Quitar",
		"factor.add":            "Añadir una aplicación de autenticación",
		"factor.recovery":       "Códigos de recuperación",
		"factor.recovery.left":  "Quedan %s",
		"factor.recovery.low":   "Se le están acabando los códigos de recuperación. Cree otros nuevos.",
		"factor.recovery.new":   "Crear códigos nuevos",
		"factor.done.added":     "Se ha añadido la aplicación de autenticación.",
		"factor.done.removed":   "Se ha quitado la aplicación de autenticación.",
		"factor.done.saved":     "La verificación en dos pasos está activada.",
		"factor.problem.wrong": "" +
			"Ese código no es correcto. Compruebe que la hora de su teléfono es correcta.",
		"factor.problem.used":    "Ese código ya se ha usado. Espere al siguiente.",
		"factor.problem.many":    "Demasiados códigos incorrectos. Use otro método o inténtelo mañana.",
		"factor.problem.expired": "Este inicio de sesión ha caducado. Inicie sesión de nuevo.",
		"factor.problem.busy":    "Hay otro cambio en curso. Inténtelo de nuevo en un momento.",
		"factor.problem.full": "" +
			"Ha alcanzado el número máximo de aplicaciones de autenticación. Quite una primero.",
		"factor.problem.enroll":    "Configure primero la verificación en dos pasos.",
		"factor.problem.factor":    "Confírmelo primero con su segundo paso.",
		"factor.methods":           "Métodos",
		"factor.lost.support":      "No le quedan códigos de recuperación.",
		"factor.support":           "Contactar con asistencia",
		"factor.enter.passkey":     "Confirme con su llave de acceso o llave de seguridad.",
		"factor.use.passkey":       "Llave de acceso o llave de seguridad",
		"factor.passkey.noscript":  "Active JavaScript para usar una llave de acceso.",
		"factor.trust":             "No volver a preguntar en este navegador durante %s días",
		"factor.later":             "Puede hacerlo más tarde, hasta el %s.",
		"factor.not-now":           "Ahora no",
		"factor.passkeys":          "Llaves de acceso",
		"factor.passkeys.on":       "Pueden confirmar un inicio de sesión",
		"factor.passkeys.off":      "No se usan como segundo paso",
		"factor.passkeys.use":      "Activar",
		"factor.passkeys.stop":     "Desactivar",
		"factor.browsers":          "Navegadores de confianza",
		"factor.browsers.forget":   "Olvidar todos",
		"factor.done.passkeys-on":  "Sus llaves de acceso son ahora un segundo paso.",
		"factor.done.passkeys-off": "Sus llaves de acceso ya no son un segundo paso.",
		"factor.done.forgotten":    "Todos los navegadores volverán a pedir el segundo paso.",
		"factor.problem.passkey": "" +
			"Esa llave de acceso no ha funcionado. Inténtelo de nuevo o use otro método.",
		"factor.problem.no-passkey":    "Añada primero una llave de acceso.",
		"email.factor-guessed.subject": "Intentos de adivinar su código en %s",
		"email.factor-guessed.body": "" +
			"Alguien ha superado el primer paso del inicio de sesión en su cuenta y después ha introducido " +
			"varios códigos incorrectos. No ha conseguido entrar.",
		"email.factor-guessed.button": "No fui yo",
		"email.factor-guessed.footer": "" +
			"Si ha sido usted, no tiene que hacer nada. Si no, quizá alguien conozca su contraseña: elija " +
			"una nueva ahora.",

		"email.deletion": "Eliminación: %s",

		"email.expires":             "Caduca: %s",
		"email.key-created.subject": "Nueva clave de API para %s",
		"email.key-created.button":  "No fui yo",
		"email.key-created.body": "" +
			"Se ha creado una clave de API para su cuenta. Los programas pueden usarla para actuar en su nombre.",
		"email.key-created.footer": "" +
			"Si ha sido usted, no tiene que hacer nada. Si no, proteja su cuenta ahora.",
		"email.organization":                "Organización: %s",
		"email.organization-invite.subject": "Le han invitado a una organización en %s",
		"email.organization-invite.button":  "Ver la invitación",
		"email.organization-invite.body": "" +
			"Un miembro le ha invitado a unirse a su organización. Para aceptar, inicie sesión o regístrese con " +
			"esta dirección de correo.",
		"email.organization-invite.footer": "" +
			"¿No conoce al remitente? Ignore este correo y nada cambiará.",
		"email.key-expiring.subject": "Su clave de API para %s caduca pronto",
		"email.key-expiring.button":  "Administrar claves de API",
		"email.key-expiring.body": "" +
			"Una de sus claves de API caduca pronto. Los programas que la usan dejarán de funcionar.",
		"email.key-expiring.footer": "" +
			"Reemplace la clave si todavía la necesita. Si no, no tiene que hacer nada.",

		"webhooks.heading": "Webhooks",
		"webhooks.intro": "" +
			"Los puntos de conexión reciben los eventos de todos los usuarios. Añada solo servidores de " +
			"confianza.",
		"webhooks.endpoints":           "Puntos de conexión",
		"webhooks.none":                "Todavía no hay puntos de conexión.",
		"webhooks.manage":              "Gestionar",
		"webhooks.back":                "Todos los puntos de conexión",
		"webhooks.configured":          "Configuración",
		"webhooks.disabled":            "Desactivado",
		"webhooks.failing":             "Con errores",
		"webhooks.all":                 "Todos los eventos",
		"webhooks.new":                 "Nuevo punto de conexión",
		"webhooks.url":                 "URL",
		"webhooks.description":         "Descripción (opcional)",
		"webhooks.events":              "Eventos, separados por espacios (opcional)",
		"webhooks.create":              "Añadir punto de conexión",
		"webhooks.secret":              "Secreto de firma",
		"webhooks.copy":                "Copie el secreto de firma ahora. No podrá volver a verlo.",
		"webhooks.actions":             "Acciones",
		"webhooks.test":                "Enviar evento de prueba",
		"webhooks.rotate":              "Reemplazar secreto",
		"webhooks.disable":             "Desactivar",
		"webhooks.enable":              "Activar",
		"webhooks.delete":              "Eliminar punto de conexión",
		"webhooks.failed":              "Entregas fallidas",
		"webhooks.failed.none":         "No hay entregas fallidas.",
		"webhooks.replay":              "Enviar de nuevo",
		"webhooks.replay.all":          "Enviar todo de nuevo",
		"webhooks.problem.url":         "Introduzca la URL https de un servidor en internet.",
		"webhooks.problem.description": "Introduzca una descripción de 100 caracteres como máximo.",
		"webhooks.problem.events":      "Introduzca nombres de eventos, como user.created o user.*.",
		"webhooks.problem.many":        "Tiene demasiados puntos de conexión. Elimine uno que ya no necesite.",
		"webhooks.problem.gone":        "Este punto de conexión o esta entrega ya no existe.",
		"webhooks.problem.configured": "" +
			"Este punto de conexión forma parte de la configuración del sitio y solo se puede cambiar allí.",
		"webhooks.problem.disabled":      "Active primero el punto de conexión.",
		"webhooks.problem.browser":       "Gestione los webhooks en un navegador.",
		"webhooks.problem.test":          "El punto de conexión no aceptó el evento de prueba: %s",
		"webhooks.done.create":           "Punto de conexión añadido.",
		"webhooks.done.test":             "El punto de conexión aceptó el evento de prueba.",
		"webhooks.done.rotate":           "Secreto reemplazado. El anterior es válido un día más.",
		"webhooks.done.disable":          "Punto de conexión desactivado.",
		"webhooks.done.enable":           "Punto de conexión activado.",
		"webhooks.done.delete":           "Punto de conexión eliminado.",
		"webhooks.done.replay":           "Las entregas fallidas se enviarán de nuevo.",
		"email.webhook-disabled.subject": "Webhooks de %s: punto de conexión desactivado",
		"email.webhook-disabled.button":  "Gestionar webhooks",
		"email.webhook-disabled.body": "" +
			"Un punto de conexión no aceptó ningún evento durante días, o indicó que ya no existe. Ya no le " +
			"enviamos eventos.",
		"email.webhook-disabled.footer": "Corrija el problema y vuelva a activar el punto de conexión, o elimínelo.",

		"apikey.heading": "Claves de API",
		"apikey.intro": "Los programas usan una clave de API para actuar en tu nombre. Cualquiera que tenga una " +
			"clave puede usarla, así que mantenlas en secreto.",
		"apikey.manage":           "Administrar claves de API",
		"apikey.none":             "Aún no hay claves de API.",
		"apikey.yours":            "Tus claves de API",
		"apikey.created":          "Tu nueva clave de API",
		"apikey.new":              "Nueva clave de API",
		"apikey.copy":             "Copia ahora tu nueva clave de API. No podrás volver a verla.",
		"apikey.name":             "Nombre",
		"apikey.scopes":           "Qué puede hacer esta clave",
		"apikey.lifetime":         "Caduca después de",
		"apikey.days":             "%s días",
		"apikey.networks":         "Direcciones IP permitidas (opcional)",
		"apikey.create":           "Crear clave de API",
		"apikey.rotate":           "Reemplazar",
		"apikey.revoke":           "Revocar",
		"apikey.expired":          "Caducada",
		"apikey.expires":          "Caduca el %s",
		"apikey.used":             "Último uso: %s",
		"apikey.unused":           "Nunca usada",
		"apikey.revoked":          "Se ha revocado la clave de API.",
		"apikey.problem.name":     "Escribe un nombre de 64 caracteres como máximo.",
		"apikey.problem.scope":    "Elige qué puede hacer la clave.",
		"apikey.problem.lifetime": "Elige una duración más corta.",
		"apikey.problem.network":  "Escribe direcciones IP o redes, por ejemplo 192.0.2.7 o 192.0.2.0/24.",
		"apikey.problem.many":     "Tienes demasiadas claves de API. Revoca una que ya no necesites.",
		"apikey.problem.gone":     "Esta clave de API ya no existe.",
		"apikey.problem.browser":  "Administra tus claves de API en un navegador.",

		"organization.security": "Seguridad",
		"organization.factor.on": "" +
			"Los miembros deben iniciar sesión con un segundo factor para usar esta organización.",
		"organization.factor.off":      "Los miembros pueden usar esta organización sin un segundo factor.",
		"organization.factor.require":  "Exigir un segundo factor",
		"organization.factor.relax":    "Dejar de exigir un segundo factor",
		"organization.one":             "Organización",
		"organization.slug.change":     "Nombre corto para URL",
		"organization.heading":         "Organizaciones",
		"organization.none":            "Aún no perteneces a ninguna organización.",
		"organization.yours":           "Tus organizaciones",
		"organization.selected":        "Seleccionada",
		"organization.select":          "Seleccionar",
		"organization.open":            "Abrir",
		"organization.manage":          "Administrar organizaciones",
		"organization.new":             "Nueva organización",
		"organization.name":            "Nombre",
		"organization.slug":            "Nombre corto para URL (opcional)",
		"organization.create":          "Crear organización",
		"organization.members":         "Miembros",
		"organization.you":             "Tú",
		"organization.unnamed":         "Usuario sin nombre",
		"organization.joined-on":       "Se unió el %s",
		"organization.role":            "Rol",
		"organization.role.owner":      "Propietario",
		"organization.role.admin":      "Administrador",
		"organization.role.member":     "Miembro",
		"organization.change":          "Cambiar rol",
		"organization.remove":          "Quitar",
		"organization.more":            "Más miembros",
		"organization.invitations":     "Invitaciones",
		"organization.invite":          "Enviar invitación",
		"organization.email":           "Correo electrónico",
		"organization.resend":          "Enviar de nuevo",
		"organization.revoke":          "Revocar",
		"organization.expires":         "Caduca el %s",
		"organization.settings":        "Configuración",
		"organization.save":            "Guardar",
		"organization.leave":           "Abandonar organización",
		"organization.transfer":        "Transferir propiedad",
		"organization.delete":          "Eliminar organización",
		"organization.confirm":         "Para eliminarla para todos los miembros, escribe «%s».",
		"organization.invitation":      "Invitación",
		"organization.invited-to":      "Te han invitado a unirte a %s.",
		"organization.accept":          "Aceptar invitación",
		"organization.back":            "Todas las organizaciones",
		"organization.done.created":    "Se ha creado la organización.",
		"organization.done.switched":   "Se ha seleccionado la organización.",
		"organization.done.saved":      "Se han guardado los cambios.",
		"organization.done.removed":    "Se ha quitado al miembro.",
		"organization.done.left":       "Has abandonado la organización.",
		"organization.done.deleted":    "Se ha eliminado la organización.",
		"organization.done.invited":    "Se ha enviado la invitación.",
		"organization.done.revoked":    "Se ha revocado la invitación.",
		"organization.done.joined":     "Te has unido a la organización.",
		"organization.problem.name":    "Escribe un nombre de 64 caracteres como máximo.",
		"organization.problem.slug":    "Usa de 2 a 48 letras minúsculas, cifras y guiones sueltos.",
		"organization.problem.taken":   "Este nombre corto ya está en uso.",
		"organization.problem.input":   "Revisa los datos e inténtalo de nuevo.",
		"organization.problem.role":    "Elige un rol de la lista.",
		"organization.problem.owner":   "Una organización necesita un propietario. Transfiere antes la propiedad.",
		"organization.problem.owners":  "Esta organización tiene demasiados propietarios.",
		"organization.problem.full":    "Esta organización no tiene plazas libres.",
		"organization.problem.many":    "Perteneces a demasiadas organizaciones. Abandona una primero.",
		"organization.problem.member":  "Ya eres miembro.",
		"organization.problem.invites": "Hay demasiadas invitaciones abiertas. Revoca una que ya no necesites.",
		"organization.problem.email":   "Escribe una dirección de correo válida.",
		"organization.problem.address": "" +
			"Esta invitación es para otra dirección de correo, o la tuya no está verificada. " +
			"Inicia sesión con la dirección invitada y verifícala.",
		"organization.problem.denied":    "Tu rol no lo permite.",
		"organization.problem.confirm":   "Escribe exactamente el nombre corto para eliminar la organización.",
		"organization.problem.gone":      "Esta organización, este miembro o esta invitación ya no existe.",
		"organization.problem.busy":      "Otra persona lo está cambiando. Inténtalo de nuevo.",
		"organization.problem.mail":      "No se ha podido enviar la invitación. Inténtalo más tarde.",
		"organization.problem.browser":   "Administra tus organizaciones en un navegador.",
		"organization.offer":             "Únete a tu equipo",
		"organization.offer.lead":        "Tu dirección de correo te permite unirte a %s.",
		"organization.join":              "Unirse",
		"organization.ask":               "Solicitar unirse",
		"organization.ask.lead":          "Un administrador de %s decide si puedes unirte.",
		"organization.requests":          "Solicitudes para unirse",
		"organization.requests.on":       "Los usuarios con sesión iniciada y este enlace pueden solicitar unirse:",
		"organization.requests.off":      "Los usuarios no pueden solicitar unirse a esta organización.",
		"organization.requests.allow":    "Permitir solicitudes",
		"organization.requests.disallow": "Dejar de permitir solicitudes",
		"organization.asked-on":          "Solicitado el %s",
		"organization.admit":             "Aceptar",
		"organization.decline":           "Rechazar",
		"organization.domains":           "Dominios",
		"organization.domains.lead": "" +
			"Las personas con una dirección de correo verificada de tu dominio pueden unirse sin invitación.",
		"organization.domain":             "Dominio",
		"organization.domain.verified":    "Verificado",
		"organization.domain.pending":     "No verificado",
		"organization.domain.record":      "Añade este registro TXT a tu DNS:",
		"organization.domain.value":       "Valor",
		"organization.domain.add":         "Añadir dominio",
		"organization.domain.verify":      "Verificar",
		"organization.domain.offer":       "Se ofrece unirse",
		"organization.domain.automatic":   "Se unen al iniciar sesión",
		"organization.domain.how":         "Cómo se unen las personas",
		"organization.done.requested":     "Has solicitado unirte. Un administrador decide.",
		"organization.done.declined":      "Solicitud rechazada.",
		"organization.done.admitted":      "El usuario ya es miembro.",
		"organization.done.domain":        "Dominio verificado.",
		"organization.problem.unverified": "Verifica primero tu dirección de correo.",
		"organization.problem.requested":  "Ya has solicitado unirte a esta organización.",
		"organization.problem.requests":   "Hay demasiadas solicitudes abiertas. Inténtalo más tarde.",
		"organization.problem.domain":     "Introduce un dominio como example.com.",
		"organization.problem.public":     "Este dominio es de un servicio de correo. Introduce el tuyo.",
		"organization.problem.domains":    "Esta organización tiene demasiados dominios. Elimina uno primero.",
		"organization.problem.record": "" +
			"Aún no hemos encontrado el registro TXT. Los registros nuevos pueden tardar unas horas en aparecer.",
		"organization.problem.lookup":       "No hemos podido consultar el dominio. Inténtalo más tarde.",
		"organization.problem.wait":         "Espera unos segundos e inténtalo de nuevo.",
		"organization.problem.domain-taken": "Este dominio pertenece a otra organización.",

		"admin.heading":         "Usuarios",
		"admin.search":          "Correo electrónico o ID de usuario",
		"admin.find":            "Buscar",
		"admin.none":            "No se encontraron usuarios.",
		"admin.more":            "Más usuarios",
		"admin.view":            "Ver",
		"admin.back":            "Todos los usuarios",
		"admin.unnamed":         "Usuario sin nombre",
		"admin.banned":          "Bloqueado",
		"admin.admin":           "Administrador",
		"admin.verified":        "Verificado",
		"admin.unverified":      "Sin verificar",
		"admin.details":         "Detalles",
		"admin.email":           "Correo electrónico",
		"admin.id":              "ID de usuario",
		"admin.methods":         "Métodos de inicio de sesión",
		"admin.password":        "Contraseña",
		"admin.passkey":         "Clave de acceso",
		"admin.added":           "Añadido el %s",
		"admin.nothing":         "Ninguno.",
		"admin.sessions":        "Sesiones activas",
		"admin.used":            "Último uso: %s",
		"admin.actor":           "En uso por el administrador %s",
		"admin.unknown-browser": "Navegador desconocido",
		"admin.which":           "Sesiones que se cerrarán",
		"admin.all":             "Todas las sesiones",
		"admin.reason":          "Motivo",
		"admin.end":             "Cerrar sesiones",
		"admin.ban":             "Bloquear usuario",
		"admin.ban.hint": "" +
			"Esto cierra las sesiones, las aplicaciones y las claves de API del usuario, que no podrá " +
			"iniciar sesión.",
		"admin.until":  "Fecha de fin (opcional)",
		"admin.ends":   "Termina el %s",
		"admin.no-end": "Sin fecha de fin",
		"admin.unban":  "Quitar bloqueo",
		"admin.reset":  "Enviar enlace para restablecer la contraseña",
		"admin.verify": "Marcar el correo como verificado",
		"admin.verify.hint": "" +
			"Hazlo solo si tienes la certeza de que la dirección es del usuario. Se quitan los métodos de " +
			"inicio de sesión que podrían ser de otra persona.",
		"admin.factors":         "Restablecer la verificación en dos pasos",
		"admin.delete":          "Eliminar usuario",
		"admin.delete.confirm":  "Para eliminar al usuario con todos sus datos, escribe «%s».",
		"admin.invite":          "Invitar a un usuario",
		"admin.invite.send":     "Enviar invitación",
		"admin.changes":         "Cambios",
		"admin.self":            "Aquí no puedes cambiar tu propia cuenta.",
		"admin.is-admin":        "Los administradores no se pueden cambiar aquí.",
		"admin.schedule-delete": "Programar eliminación",
		"admin.schedule-delete.hint": "" +
			"Se cierran todas las sesiones del usuario. Puede iniciar sesión para " +
			"conservar la cuenta hasta la eliminación.",
		"admin.done.scheduled": "Eliminación programada.",
		"admin.impersonate":    "Usar esta cuenta",
		"admin.impersonate.hint": "Verá el sitio como este usuario durante una hora como máximo. No puede cambiar sus " +
			"métodos de inicio de sesión, claves ni organizaciones.",
		"admin.done.ended":         "Sesiones cerradas.",
		"admin.done.banned":        "Usuario bloqueado.",
		"admin.done.unbanned":      "Bloqueo quitado.",
		"admin.done.reset":         "Enlace enviado.",
		"admin.done.verified":      "Correo marcado como verificado.",
		"admin.done.factors":       "Verificación en dos pasos restablecida.",
		"admin.done.deleted":       "Usuario eliminado.",
		"admin.done.invited":       "Invitación enviada.",
		"admin.problem.reason":     "Introduce un motivo de 200 caracteres como máximo.",
		"admin.problem.until":      "Elige una fecha de fin futura.",
		"admin.problem.gone":       "Este usuario o esta sesión ya no existe.",
		"admin.problem.not-banned": "Este usuario no está bloqueado.",
		"admin.problem.busy":       "Otro administrador está cambiando este usuario. Inténtalo de nuevo.",
		"admin.problem.confirm":    "Escribe el texto exactamente para eliminar al usuario.",
		"admin.problem.email":      "Introduce una dirección de correo válida.",
		"admin.problem.no-email":   "Este usuario no tiene dirección de correo.",
		"admin.problem.verified":   "Esta dirección ya está verificada.",
		"admin.problem.browser":    "Administra los usuarios en un navegador.",
		"admin.problem.cursor":     "Esta página de la lista ha caducado. Empieza de nuevo.",

		"tokens.ask":          "¿Iniciar sesión en %s?",
		"tokens.ask.user":     "Has iniciado sesión como %s.",
		"tokens.ask.body":     "%s podrá:",
		"tokens.resource":     "La aplicación tendrá acceso a %s.",
		"tokens.ask.started":  "Permítelo solo si lo has iniciado tú, en un dispositivo que muestra este código:",
		"tokens.network":      "La solicitud vino de %s.",
		"tokens.allow":        "Permitir",
		"tokens.deny":         "No permitir",
		"tokens.device":       "Iniciar sesión en un dispositivo",
		"tokens.code.body":    "Escribe el código que muestra tu dispositivo.",
		"tokens.code":         "Código",
		"tokens.continue":     "Continuar",
		"tokens.code.wrong":   "Este código es incorrecto o ha caducado.",
		"tokens.done":         "Has iniciado sesión en %s. Vuelve a tu dispositivo.",
		"tokens.denied":       "No se inició sesión en %s.",
		"tokens.invalid":      "Este inicio de sesión no funciona",
		"tokens.invalid.body": "La aplicación envió una solicitud no válida. Avisa a sus desarrolladores:",
		"tokens.apps":         "Aplicaciones",
		"tokens.apps.body":    "Aplicaciones que han iniciado sesión en tu cuenta.",
		"tokens.apps.none":    "Ninguna aplicación ha iniciado sesión.",
		"tokens.since":        "Desde el %s",
		"tokens.used":         "Último uso: %s",
		"tokens.end":          "Cerrar sesión",
		"tokens.ended":        "Se cerró la sesión de la aplicación.",
		"tokens.manage":       "Gestionar aplicaciones",
		"tokens.gone":         "Esta aplicación ya no tiene la sesión iniciada.",
		"tokens.browser":      "Abre esta página en un navegador.",
		"account.heading":     "Su cuenta",
		"account.stale": "" +
			"Hace un rato que inició sesión. Antes de hacer un cambio le pediremos que la inicie de nuevo.",
		"account.not-me.heading": "No he sido yo",
		"account.not-me.body": "" +
			"Protegeremos la cuenta de %s: se cerrará la sesión en todos los dispositivos y, si es " +
			"posible, se deshará el cambio.",
		"account.not-me.button":   "Proteger mi cuenta",
		"account.secured.heading": "Su cuenta está protegida",
		"account.secured.body":    "Revise ahora los métodos de inicio de sesión de %s.",
		"account.undone.heading":  "El cambio se ha deshecho",
		"account.undone.body":     "Su cuenta vuelve a usar la dirección %s.",
		"account.undone.ended":    "Se ha cerrado la sesión en todos los dispositivos.",
		"account.undone.removed": "" +
			"Estos métodos de inicio de sesión se añadieron después del cambio. Los hemos eliminado:",
		"account.undone.password":      "Elegir una contraseña nueva",
		"account.sign-in":              "Iniciar sesión",
		"account.deleted.heading":      "Su cuenta se ha eliminado",
		"account.deleted.body":         "Su cuenta y todos sus datos se han eliminado. Se ha cerrado su sesión.",
		"account.methods.heading":      "Formas de iniciar sesión",
		"account.methods.none":         "Todavía no hay nada vinculado a su cuenta.",
		"account.methods.link":         "Enlace por correo",
		"account.methods.link-to":      "Lo enviamos a %s",
		"account.add":                  "Conectar %s",
		"account.password":             "Contraseña",
		"account.password.change":      "Cambiar",
		"account.password.change-what": "contraseña",
		"account.password.none":        "Sin definir",
		"account.password.choose":      "Definir una contraseña",
		"account.remove":               "Quitar",
		"account.disconnect":           "Desconectar",
		"account.rename":               "Cambiar el nombre",
		"account.name":                 "Nombre",
		"account.save":                 "Guardar",
		"account.passkey.add":          "Añadir una llave de acceso",
		"account.passkey":              "Llave de acceso",
		"account.passkey.noscript": "" +
			"Las llaves de acceso necesitan JavaScript, que está desactivado en este navegador.",
		"account.sessions.heading": "Dónde tiene la sesión iniciada",
		"account.sessions.none": "" +
			"Este sitio no puede mostrar la lista. Cierre la sesión usted mismo en cada dispositivo.",
		"account.sessions.others":  "Cerrar sesión en los demás sitios",
		"account.sessions.end":     "Cerrar sesión",
		"account.sessions.here":    "en este dispositivo",
		"account.sessions.support": "Un administrador está usando su cuenta",
		"account.sessions.since":   "Desde: %s",
		"account.email.heading":    "Correo electrónico",
		"account.email.code": "" +
			"Hemos enviado un correo a esa dirección. Introduzca aquí el código que contiene o " +
			"abra su enlace en este navegador.",
		"account.email.none":        "Ninguno",
		"account.email.new":         "Dirección nueva",
		"account.email.change":      "Cambiar",
		"account.email.change-what": "correo electrónico",
		"account.email.verify":      "Enviar correo de verificación",

		"account.email.bounces": "" +
			"Los correos enviados a esta dirección se devuelven. Confírmela de nuevo o cámbiela.",

		"account.email.hint": "" +
			"Le enviaremos un correo. Abra su enlace en este navegador y la dirección será suya. Desde la " +
			"dirección antigua se puede deshacer el cambio durante los próximos siete días.",
		"account.activity":                 "Actividad de seguridad reciente",
		"account.activity.view":            "Ver la actividad",
		"account.activity.back":            "Su cuenta",
		"account.activity.hint":            "Si no reconoce algo, cambie su contraseña y cierre todas las demás sesiones.",
		"account.activity.signin":          "Inicio de sesión",
		"account.activity.refused":         "Inicio de sesión fallido",
		"account.activity.reauth":          "Identidad confirmada",
		"account.activity.ended":           "Sesiones cerradas",
		"account.activity.linked":          "Cuenta conectada",
		"account.activity.unlinked":        "Cuenta desconectada",
		"account.activity.password":        "Contraseña cambiada",
		"account.activity.reset":           "Restablecimiento de contraseña solicitado",
		"account.activity.username":        "Nombre de usuario cambiado",
		"account.activity.email":           "Correo electrónico cambiado o verificado",
		"account.activity.passkey":         "Llave de acceso añadida",
		"account.activity.passkey-removed": "Llave de acceso eliminada",
		"account.activity.secured":         "Cuenta protegida",
		"account.activity.factors":         "Verificación en dos pasos cambiada",
		"account.activity.recovery":        "Código de recuperación usado",
		"account.activity.codes":           "Códigos de recuperación cambiados",
		"account.activity.key":             "Clave de API creada",
		"account.activity.key-revoked":     "Clave de API revocada",
		"account.activity.app":             "Aplicación conectada",
		"account.activity.app-ended":       "Aplicación desconectada",
		"account.activity.deletion":        "Eliminación de la cuenta solicitada",
		"account.activity.kept":            "Eliminación de la cuenta cancelada",
		"account.activity.exported":        "Datos descargados",
		"account.activity.impersonated":    "Cuenta usada por el equipo de soporte",
		"account.activity.banned":          "Cuenta bloqueada",
		"account.activity.unbanned":        "Bloqueo levantado",
		"account.activity.support":         "Por soporte",
		"account.download":                 "Sus datos",
		"account.download.hint":            "Descargue lo que este sitio ha guardado sobre usted, en un archivo JSON.",
		"account.download.button":          "Descargar mis datos",
		"account.delete.heading":           "Eliminar su cuenta",
		"account.delete.hint":              "También se borra todo lo que le pertenece. No hay vuelta atrás.",

		"account.delete.later": "" +
			"Eliminaremos su cuenta y todos sus datos el %s. Hasta entonces, puede iniciar sesión para " +
			"conservarla.",
		"account.deletion.heading": "Su cuenta se eliminará",
		"account.deletion.added": "" +
			"Eliminaremos su cuenta y todos sus datos el %s. Se ha cerrado su sesión en todas partes. Para " +
			"conservar su cuenta, inicie sesión antes de ese día.",
		"account.deletion.ask":     "Eliminaremos su cuenta y todos sus datos el %s. ¿Desea conservarla?",
		"account.deletion.started": "Su cuenta se está eliminando. No se puede recuperar.",
		"account.deletion.keep":    "Conservar mi cuenta",
		"account.kept.heading":     "Ha conservado su cuenta",
		"account.kept.body":        "No se eliminará. Puede iniciar sesión como antes.",

		"account.delete.ask":      "Quiero eliminar mi cuenta",
		"account.delete.phrase":   "Escriba «%s» para confirmar",
		"account.delete.button":   "Eliminar para siempre",
		"account.last":            "Su última forma de iniciar sesión",
		"account.this-device":     "Este dispositivo",
		"account.not-confirmed":   "Sin confirmar",
		"account.confirm.heading": "Cambiar su dirección",
		"account.confirm.body":    "¿Usar %s como nuevo correo electrónico?",
		"account.confirm.button":  "Confirmar",
		"account.undo.heading":    "Deshacer el cambio",
		"account.undo.body":       "El correo de su cuenta volverá a ser %s y se cerrarán todas las sesiones.",
		"account.undo.only":       "El correo de su cuenta volverá a ser %s.",
		"account.done.unlinked":   "Cuenta desconectada.",
		"account.done.passkey-removed": "" +
			"La llave de acceso se ha quitado. Su dispositivo quizá aún la ofrezca; bórrela también allí.",
		"account.done.passkey-named": "El nombre se ha cambiado.",
		"account.done.ended":         "Se ha cerrado esa sesión.",
		"account.done.ended-others":  "Se han cerrado todas las demás sesiones.",
		"account.done.email-asked": "" +
			"Hemos enviado un correo a la dirección nueva. Abra su enlace en este navegador; hasta entonces " +
			"nada cambia.",
		"account.done.email-changed":  "Su dirección se ha cambiado.",
		"account.done.email-verified": "Su dirección de correo está verificada.",
		"account.done.profile":        "Perfil actualizado.",
		"account.problem.last":        "Es su última forma de iniciar sesión. Añada antes otra.",
		"account.problem.gone":        "Eso ya no está. La página muestra lo que hay ahora.",
		"account.problem.busy":        "Hay otro cambio en curso. Inténtelo de nuevo en un momento.",
		"account.problem.email":       "Eso no es una dirección de correo. Compruébela e inténtelo de nuevo.",
		"account.problem.same":        "Esa ya es su dirección.",
		"account.problem.link":        "Este enlace ya se ha usado, ha caducado o es de otro navegador. Nada ha cambiado.",
		"account.problem.phrase":      "No se ha eliminado nada: las palabras no coinciden.",
		"account.problem.name":        "Un nombre tiene 64 caracteres como máximo.",
		"account.problem.mail":        "No se ha podido enviar el correo. Inténtelo de nuevo en un momento.",
		"account.problem.not-listed":  "En este sitio las sesiones no se pueden cerrar una a una.",
		"account.problem.somebody-else": "" +
			"Ha iniciado sesión con otra cuenta que la que empezó un cambio aquí. Ese cambio no se ha hecho.",
		"account.again.heading": "Continuar",
		"account.again.hint": "" +
			"Gracias, ha iniciado sesión de nuevo. Aún no ha cambiado nada: pulse el botón para continuar.",
		"account.problem.other":        "No ha funcionado. Inténtelo de nuevo.",
		"account.problem.profile-name": "Usa 100 caracteres o menos.",
		"account.problem.image":        "Introduce la dirección de una imagen que empiece por https://.",
		"account.ago.now":              "ahora mismo",
		"account.ago.minutes":          "hace %s minutos",
		"account.ago.hour":             "hace una hora",
		"account.ago.hours":            "hace %s horas",
		"account.ago.yesterday":        "ayer",
		"account.ago.days":             "hace %s días",
		"account.ago.on":               "el %s",
		"account.device":               "Un navegador",
		"account.device.on":            "en %s",
		"account.session.now":          "En uso ahora",
		"account.session.used":         "Último uso: %s",
		"account.session.made":         "inicio de sesión: %s",
		"account.session.until":        "Hasta el %s",
		"account.passkey.made":         "visto por primera vez: %s",
		"account.passkey.used":         "último uso: %s",
		"account.passkey.synced":       "sincronizada entre sus dispositivos",
		"account.profile.heading":      "Perfil",
		"account.profile.edit":         "Editar perfil",
		"account.profile.image":        "URL de la imagen",
		"account.profile.image-hint":   "La dirección de una imagen en la web. Empieza por https://.",
		"account.confirmed":            "Verificado",
		"home.back":                    "Volver a %s",

		"sent.open": "Abrir %s",

		"sent.again":           "Reenviar el correo",
		"sent.other":           "Usar otro correo",
		"sent.spam":            "¿No le ha llegado? Revise la carpeta de spam.",
		"signup.continue":      "Continuar con %s",
		"signup.with":          "Registrarse con %s",
		"signup.agree":         "Al continuar, acepta: %s",
		"password-hint.count":  "%s caracteres",
		"password-hint.enough": "Longitud suficiente",
	}}
}
