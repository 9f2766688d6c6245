package locales

import "github.com/latchkey-go/latchkey/ui"

// Portuguese returns Brazilian Portuguese. The caller owns the map.
//
//nolint:funlen,gosec // a table of texts without credentials
func Portuguese() ui.Locale {
	return ui.Locale{Tag: "pt", Texts: map[string]string{
		"date": "2 de January de 2006",

		"moment": "2 de January de 2006, 15:04 UTC",

		"months": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",

		"report": "Se informar este problema, indique o código %s",

		"logo": "Logotipo",

		"signin.title":         "Entrar",
		"signin.heading":       "Entrar",
		"signin.with":          "Entrar com %s",
		"signin.none":          "Ainda não foi configurada nenhuma forma de entrar.",
		"signin.email":         "E-mail",
		"signin.email.example": "nome@example.com",

		"passkey.noscript":    "As chaves de acesso precisam de JavaScript, que está desativado neste navegador.",
		"passkey.waiting":     "Aguardando sua chave de acesso…",
		"passkey.cancelled":   "A operação foi cancelada. Você pode tentar novamente.",
		"passkey.failed":      "Não funcionou. Tente novamente.",
		"passkey.unsupported": "Este navegador não oferece suporte a chaves de acesso.",

		"signout.title":    "Sair",
		"signout.heading":  "Sair",
		"signout.question": "Deseja sair?",
		"signout.button":   "Sair",

		"verify.title":   "Verifique seu e-mail",
		"verify.heading": "Verifique seu e-mail",
		"verify.body":    "Um link de acesso está a caminho. Você pode fechar esta página.",

		"confirm.as":   "Entrar como %s?",
		"confirm.body": "Continue para entrar.",

		"signin.failed":     "Não funcionou. Tente novamente ou escolha outra forma de entrar.",
		"signin.not-linked": "Já existe uma conta com este e-mail. Entre da forma como entrou antes.",
		"signin.not-mailed": "Não foi possível enviar o e-mail. Verifique o endereço e tente novamente.",
		"signin.no-match":   "Esses dados não correspondem a nenhuma conta. Verifique-os e tente novamente.",
		"signin.incorrect":  "E-mail ou senha incorretos.",
		"signin.mail-only":  "Muitas senhas erradas seguidas. Escolha uma nova por e-mail ou entre de outra forma.",
		"signin.required":   "Entre para ver esta página.",
		"signin.stale": "" +
			"Não foi possível confirmar que você acabou de entrar. Use outra forma de entrar " +
			"ou saia e entre novamente.",
		"signin.other": "Não foi possível entrar. Tente novamente.",

		"switch.heading":        "Você já entrou",
		"switch.keep":           "Continuar como %s",
		"switch.other":          "Mudar para %s",
		"error.expired.heading": "O acesso expirou",
		"error.expired.body":    "Você começou a entrar há mais de 15 minutos ou em outro navegador.",
		"error.browser.heading": "Outro navegador",
		"error.browser.body":    "Você começou a entrar em outro navegador. Entre novamente para continuar aqui.",
		"error.used.heading":    "Já utilizado",
		"error.used.body":       "Este acesso já foi concluído ou cancelado. Entre novamente para continuar.",
		"error.again":           "Entrar novamente",

		"error.forbidden.heading": "Você não tem acesso a esta página",
		"error.forbidden.body":    "Sua conta não tem permissão para abri-la.",
		"error.forbidden.back":    "Voltar",
		"error.forbidden.other":   "Usar outra conta",
		"error.not-found.heading": "Página não encontrada",
		"error.not-found.body":    "Não há nada neste endereço. Verifique se ele está correto.",
		"error.not-found.home":    "Ir para a página inicial",

		"error.title":                 "Erro",
		"error.configuration.heading": "Erro no servidor",
		"error.configuration.body": "" +
			"O acesso não está configurado corretamente neste site. Você não fez nada de errado; os " +
			"responsáveis encontrarão os detalhes no registro.",
		"error.denied.heading":   "Acesso negado",
		"error.denied.body":      "Esta conta não pode entrar aqui. Se você tiver outra, tente com ela.",
		"error.too-many.heading": "Tentativas demais",
		"error.too-many.body":    "Aguarde um momento e tente novamente.",
		"error.busy.heading":     "Um momento",
		"error.busy.body": "" +
			"Este site está ocupado e não conseguiu responder a tempo. Você não fez nada de errado; tente " +
			"novamente em instantes.",
		"error.verification.heading": "Não foi possível entrar",
		"error.verification.body":    "Este link de acesso já foi usado ou expirou. Peça um novo.",
		"error.other.heading":        "Erro",
		"error.other.body":           "Algo deu errado no caminho. Volte e tente mais uma vez.",

		"problem.again": "Entre novamente primeiro.",

		"status.400": "Solicitação inválida",
		"status.401": "Não autenticado",
		"status.403": "Proibido",
		"status.404": "Não encontrado",
		"status.405": "Método não permitido",
		"status.409": "Conflito",
		"status.410": "Não existe mais",
		"status.413": "Solicitação grande demais",
		"status.415": "Formato não suportado",
		"status.422": "Não processável",
		"status.429": "Solicitações demais",
		"status.500": "Erro interno do servidor",
		"status.503": "Serviço indisponível",

		"label.Email": "E-mail",

		"provider.Email": "e-mail",

		"label.Password": "Senha",
		"label.Username": "Nome de usuário",
		"label.Name":     "Nome",

		"provider.Passkey":     "chave de acesso",
		"provider.Credentials": "suas credenciais",
		"provider.Password":    "senha",

		"label.Forgot your password?": "Esqueceu a senha?",
		"label.Create an account":     "Criar uma conta",

		"email.title":           "Sua conta",
		"email.time":            "Data: %s",
		"email.network":         "Faixa de IP: %s",
		"email.until":           "O link funciona até %s.",
		"email.code":            "Código: %s",
		"email.otherwise":       "Se o botão não funcionar, abra este endereço:",
		"email.sign-in.subject": "Entrar em %s",
		"email.sign-in.button":  "Entrar",
		"email.sign-in.footer":  "Se você não pediu este e-mail, pode ignorá-lo.",
		"email.verify.subject":  "Confirme seu endereço para %s",
		"email.verify.button":   "Confirmar meu endereço",
		"email.verify.body": "" +
			"Alguém, esperamos que você, quer se cadastrar com este endereço. Abra o link no navegador em " +
			"que você se cadastrou; qualquer outro pedirá a senha escolhida lá.",
		"email.verify.footer":  "Se não foi você, ignore este e-mail: nenhuma conta será criada.",
		"email.exists.subject": "Você tem uma conta em %s",
		"email.exists.button":  "Entrar",
		"email.exists.body": "" +
			"Alguém, talvez você, tentou se cadastrar com este endereço, que já tem uma conta. Nada mudou. " +
			"Entre com ele ou escolha uma nova senha se esqueceu a sua.",
		"email.exists.footer":            "Se não foi você, não precisa fazer nada.",
		"email.reset.subject":            "Escolha uma nova senha para %s",
		"email.reset.button":             "Escolher uma senha",
		"email.reset.body":               "Alguém pediu para escolher uma nova senha para a conta com este endereço.",
		"email.reset.footer":             "Se não foi você, ignore este e-mail: a senha continua a mesma.",
		"email.password-changed.subject": "Sua senha de %s foi alterada",
		"email.password-changed.button":  "Não fui eu",
		"email.password-changed.body":    "A senha da sua conta foi definida, alterada ou removida.",
		"email.password-changed.footer": "" +
			"Se foi você, não precisa fazer nada. Se não foi, escolha uma nova senha agora.",
		"email.email-change.subject":    "Confirme seu novo endereço para %s",
		"email.email-change.button":     "Confirmar meu endereço",
		"email.email-change.body":       "Você pediu para usar este endereço na sua conta a partir de agora.",
		"email.email-change.footer":     "Se não foi você, ignore este e-mail: nada muda.",
		"email.email-changed.subject":   "Seu endereço em %s foi alterado",
		"email.email-changed.button":    "Desfazer a alteração",
		"email.email-changed.body":      "Sua conta tinha este endereço e agora tem outro.",
		"email.email-changed.footer":    "Se foi você, não é preciso fazer nada. Se não, desfaça a alteração.",
		"email.email-changed.sessions":  "Isso também encerra todas as sessões da conta.",
		"email.service":                 "Serviço: %s",
		"email.passkey-added.subject":   "Nova chave de acesso para %s",
		"email.passkey-added.button":    "Proteger minha conta",
		"email.passkey-added.body":      "Uma chave de acesso foi adicionada à sua conta. Com ela é possível entrar.",
		"email.passkey-added.footer":    "Se foi você, não é preciso fazer nada. Se não, proteja sua conta agora.",
		"email.passkey-removed.subject": "Chave de acesso removida de %s",
		"email.passkey-removed.button":  "Proteger minha conta",
		"email.passkey-removed.body": "" +
			"Uma chave de acesso da sua conta foi removida. Não é mais possível entrar com ela.",
		"email.passkey-removed.footer": "" +
			"Se foi você, não é preciso fazer nada. Se não, proteja sua conta agora.",
		"email.account-linked.subject": "Novo método de acesso para %s",
		"email.account-linked.button":  "Proteger minha conta",
		"email.account-linked.body": "" +
			"Uma conta de outro serviço foi vinculada à sua conta. Com ela é possível entrar.",
		"email.account-linked.footer":    "Se foi você, não é preciso fazer nada. Se não, proteja sua conta agora.",
		"email.account-unlinked.subject": "Método de acesso removido de %s",
		"email.account-unlinked.button":  "Proteger minha conta",
		"email.account-unlinked.body": "" +
			"Uma conta de outro serviço foi desvinculada da sua conta. Não é mais possível entrar com ela.",
		"email.account-unlinked.footer": "" +
			"Se foi você, não é preciso fazer nada. Se não, proteja sua conta agora.",
		"email.new-device.subject": "Novo acesso a %s",
		"email.new-device.button":  "Ver minhas sessões",
		"email.new-device.body":    "Alguém entrou na sua conta em um navegador que não era conhecido.",
		"email.new-device.footer": "" +
			"Se foi você, não precisa fazer nada. Se não foi, encerre essa sessão e mude sua forma de entrar.",
		"email.invite.subject":  "Você foi convidado para %s",
		"email.invite.button":   "Aceitar o convite",
		"email.invite.body":     "Você pode se cadastrar com este endereço.",
		"email.invite.footer":   "Se não quiser, ignore este e-mail: nenhuma conta será criada.",
		"email.deleted.subject": "Sua conta em %s foi excluída",
		"email.deleted.body":    "Sua conta foi excluída.",
		"email.deleted.footer":  "Se não foi você, fale com os responsáveis pelo site.",

		"signin.to":        "Entrar em %s",
		"signin.mail-link": "Receber um link de acesso por e-mail",
		"signin.show":      "Mostrar a senha",
		"signin.last":      "Usado por último",
		"signin.who":       "Você entrou como %s.",
		"signin.continue":  "Continuar",

		"terms": "Termos de uso",

		"privacy": "Privacidade",

		"cancel": "Cancelar",

		"verify.sent":  "Ele será enviado para %s.",
		"verify.again": "Enviar novamente ou usar outro endereço",

		"signin.or": "ou",

		"password.sign-up.heading": "Criar uma conta",
		"password.sign-up.button":  "Criar conta",
		"password.sign-up.have":    "Já tenho uma conta",
		"password.email":           "E-mail",
		"password.name":            "Nome (opcional)",
		"password.password":        "Senha",
		"password.new":             "Nova senha",
		"password.current":         "Senha atual",
		"password.rule":            "Mínimo de caracteres: %s. Algumas palavras em sequência são fáceis de lembrar.",
		"password.sent.heading":    "Verifique seu e-mail",
		"password.sent.body": "" +
			"Se o endereço puder ser usado aqui, um e-mail está a caminho. Abra o link dele neste navegador.",
		"password.sent.reset": "Se existir uma conta com esse e-mail, enviamos um link para redefinir a senha.",
		"password.sent.more": "" +
			"Nada depois de alguns minutos? Olhe na caixa de spam e verifique se o endereço estava certo.",
		"password.confirm.heading": "Confirme seu endereço",
		"password.confirm.body": "" +
			"Este não é o navegador em que a conta foi pedida. Digite a senha escolhida lá. Se você não se " +
			"cadastrou, feche esta página: nenhuma conta será criada.",
		"password.confirm.button": "Confirmar e entrar",
		"password.confirm.device": "" +
			"Não sabe a senha? Abra este link no dispositivo em que você se cadastrou.",
		"password.confirm.start-over": "Recomeçar",
		"password.forgot.heading":     "Esqueceu a senha?",
		"password.forgot.body":        "Digite seu endereço e enviaremos um link para escolher uma nova.",
		"password.forgot.button":      "Enviar o link",
		"password.forgot.back":        "Voltar para entrar",
		"password.reset.heading":      "Escolha uma nova senha",
		"password.reset.body":         "Todos os dispositivos conectados serão desconectados.",
		"password.reset.methods": "" +
			"Estes métodos de acesso foram adicionados no último mês. Marque os que você não reconhece e " +
			"nós os removeremos:",
		"password.reset.added":    "adicionado em %s",
		"password.passkey":        "Chave de acesso",
		"password.reset.button":   "Salvar a senha",
		"password.change.heading": "Alterar a senha",
		"password.change.button":  "Alterar a senha",
		"password.change.forgot":  "Não sei minha senha atual",
		"password.done.heading":   "Sua senha foi salva",
		"password.done.body":      "Os outros dispositivos foram desconectados e enviamos um e-mail sobre isso.",
		"password.done.only":      "Enviamos um e-mail sobre isso.",
		"password.done.removed": "" +
			"Removemos os métodos de acesso que você marcou ou que foram adicionados antes da verificação " +
			"do seu endereço: %s. Você pode adicionar os seus de novo depois de entrar.",
		"password.done.sign-in":  "Entrar",
		"password.done.go-on":    "Continuar",
		"password.closed":        "Aqui ninguém pode se cadastrar por conta própria.",
		"password.changed":       "Sua senha acabou de ser alterada em outro lugar. Tente novamente com a nova.",
		"password.wrong":         "Esta não é a sua senha atual.",
		"password.wrong-sign-up": "Digite a senha com que você se cadastrou.",
		"password.other": "Outro link foi aberto neste navegador desde então. Nada " +
			"foi alterado. Abra novamente o link do seu e-mail.",
		"password.link": "" +
			"Este link já foi usado, expirou ou foi cortado pelo seu programa de e-mail. Peça um novo.",
		"password.short": "" +
			"Use uma senha mais longa; mínimo de caracteres: %s. Algumas palavras em sequência são fáceis de " +
			"lembrar.",
		"password.long":     "Use uma senha mais curta.",
		"password.context":  "Esta senha é composta do seu endereço ou do nome deste site. Escolha outra.",
		"password.common":   "Esta senha está entre as primeiras que são tentadas. Escolha outra.",
		"password.breached": "Esta senha apareceu em um vazamento de dados em outro lugar. Escolha outra.",
		"password.address":  "Verifique o endereço.",
		"password.bad-name": "Use um nome mais curto ou mais simples.",
		"password.busy":     "Há pessoas demais entrando neste momento. Tente novamente em alguns segundos.",

		"account.heading":        "Sua conta",
		"account.who":            "Conectado como %s",
		"account.stale":          "Faz algum tempo que você entrou. Antes de uma alteração, pediremos que entre novamente.",
		"account.undone.heading": "A alteração foi desfeita",
		"account.undone.body":    "Sua conta voltou a usar o endereço %s.",
		"account.undone.ended":   "Todos os dispositivos foram desconectados.",
		"account.undone.removed": "" +
			"Estes métodos de acesso foram adicionados depois da alteração. Nós os removemos:",
		"account.undone.password":      "Escolher uma nova senha",
		"account.sign-in":              "Entrar",
		"account.deleted.heading":      "Sua conta foi excluída",
		"account.deleted.body":         "Sua conta e todos os seus dados foram excluídos. Você saiu.",
		"account.methods.heading":      "Formas de entrar",
		"account.methods.none":         "Ainda não há nada vinculado à sua conta.",
		"account.methods.link":         "Link por e-mail",
		"account.methods.link-to":      "Nós o enviamos para %s",
		"account.add":                  "Conectar %s",
		"account.password":             "Senha",
		"account.password.change":      "Alterar",
		"account.password.change-what": "senha",
		"account.password.none":        "Não definida",
		"account.password.choose":      "Definir uma senha",
		"account.remove":               "Remover",
		"account.disconnect":           "Desconectar",
		"account.rename":               "Renomear",
		"account.name":                 "Nome",
		"account.save":                 "Salvar",
		"account.passkey.add":          "Adicionar uma chave de acesso",
		"account.passkey":              "Chave de acesso",
		"account.passkey.noscript": "" +
			"As chaves de acesso precisam de JavaScript, que está desativado neste navegador.",
		"account.sessions.heading":  "Onde você está conectado",
		"account.sessions.none":     "Este site não pode listá-los. Saia você mesmo em cada dispositivo.",
		"account.sessions.others":   "Sair de todos os outros lugares",
		"account.sessions.end":      "Sair",
		"account.sessions.here":     "neste dispositivo",
		"account.email.heading":     "E-mail",
		"account.email.none":        "Nenhum",
		"account.email.new":         "Novo endereço",
		"account.email.change":      "Alterar",
		"account.email.change-what": "e-mail",
		"account.email.verify":      "Enviar e-mail de verificação",
		"account.email.hint": "" +
			"Enviaremos um e-mail para lá. Abra o link dele neste navegador, e o endereço será seu. Pelo " +
			"endereço antigo é possível desfazer a alteração nos próximos sete dias.",
		"account.delete.heading":  "Excluir sua conta",
		"account.delete.hint":     "Tudo o que pertence a ela também será apagado. Não há como voltar atrás.",
		"account.delete.ask":      "Quero excluir minha conta",
		"account.delete.phrase":   "Digite “%s” para confirmar",
		"account.delete.button":   "Excluir para sempre",
		"account.last":            "Sua última forma de entrar",
		"account.this-device":     "Este dispositivo",
		"account.not-confirmed":   "Não confirmado",
		"account.confirm.heading": "Alterar seu endereço",
		"account.confirm.body":    "Usar %s como seu novo e-mail?",
		"account.confirm.button":  "Confirmar",
		"account.undo.heading":    "Desfazer a alteração",
		"account.undo.body":       "O e-mail da sua conta voltará a ser %s, e todas as sessões serão encerradas.",
		"account.undo.only":       "O e-mail da sua conta voltará a ser %s.",
		"account.done.unlinked":   "Conta desconectada.",
		"account.done.passkey-removed": "" +
			"A chave de acesso foi removida. Seu dispositivo talvez ainda a ofereça; exclua-a lá também.",
		"account.done.passkey-named": "O nome foi alterado.",
		"account.done.ended":         "Essa sessão foi encerrada.",
		"account.done.ended-others":  "Todas as outras sessões foram encerradas.",
		"account.done.email-asked": "" +
			"Enviamos um e-mail para o novo endereço. Abra o link dele neste navegador; até lá nada muda.",
		"account.done.email-changed":  "Seu endereço foi alterado.",
		"account.done.email-verified": "Seu endereço de e-mail foi verificado.",
		"account.problem.last":        "Esta é sua última forma de entrar. Adicione outra primeiro.",
		"account.problem.gone":        "Isso já não existe. A página mostra o que há agora.",
		"account.problem.busy":        "Outra alteração está em andamento. Tente novamente em instantes.",
		"account.problem.email":       "Isso não é um endereço de e-mail. Verifique-o e tente novamente.",
		"account.problem.same":        "Esse já é o seu endereço.",
		"account.problem.link":        "Este link já foi usado, expirou ou é de outro navegador. Nada mudou.",
		"account.problem.phrase":      "Nada foi excluído: as palavras não coincidem.",
		"account.problem.name":        "Um nome tem no máximo 64 caracteres.",
		"account.problem.mail":        "Não foi possível enviar o e-mail. Tente novamente em instantes.",
		"account.problem.not-listed":  "Neste site as sessões não podem ser encerradas uma a uma.",
		"account.problem.somebody-else": "" +
			"Você entrou com outra conta que não a que começou uma alteração aqui. Ela não foi feita.",
		"account.again.heading":  "Continuar",
		"account.again.hint":     "Obrigado, você entrou novamente. Nada mudou ainda: use o botão para continuar.",
		"account.problem.other":  "Não funcionou. Tente novamente.",
		"account.ago.now":        "agora mesmo",
		"account.ago.minutes":    "há %s minutos",
		"account.ago.hour":       "há uma hora",
		"account.ago.hours":      "há %s horas",
		"account.ago.yesterday":  "ontem",
		"account.ago.days":       "há %s dias",
		"account.ago.on":         "em %s",
		"account.device":         "Um navegador",
		"account.device.on":      "em %s",
		"account.session.now":    "Em uso agora",
		"account.session.used":   "Último uso: %s",
		"account.session.made":   "entrada: %s",
		"account.session.until":  "Até %s",
		"account.passkey.made":   "visto pela primeira vez: %s",
		"account.passkey.used":   "último uso: %s",
		"account.passkey.synced": "sincronizada entre seus dispositivos",
	}}
}
