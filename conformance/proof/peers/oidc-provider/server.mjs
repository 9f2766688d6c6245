// OpenID providers without a page: every user is Ada, who consents, or Bob if login_hint says so. The program prints an address. A POST of the settings
// {clients, claimsInIDToken, accessTokenAlg} to this address starts a new provider and returns its issuer. POST /rotate on the
// provider replaces all its keys. The program ends when its input closes.
import { createServer } from 'node:http';
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { json } from 'node:stream/consumers';
import { Provider } from 'oidc-provider';

async function listen(server) {
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${server.address().port}`;
}

// Key pairs are exported when they are generated, and then imported again. In Node 20, exporting a KeyObject of
// generateKeyPairSync while its pair is garbage collected causes a deadlock in the same thread.
const pem = { publicKeyEncoding: { type: 'spki', format: 'pem' }, privateKeyEncoding: { type: 'pkcs8', format: 'pem' } };
const jwk = (kind, options, alg, generation) => ({
  ...createPrivateKey(generateKeyPairSync(kind, { ...options, ...pem }).privateKey).export({ format: 'jwk' }),
  alg, use: 'sig', kid: `${alg}-${generation}`,
});

function start(issuer, settings, generation) {
  const provider = new Provider(issuer, {
    clients: settings.clients,
    jwks: {
      keys: [
        jwk('rsa', { modulusLength: 2048 }, 'RS256', generation), jwk('ec', { namedCurve: 'P-256' }, 'ES256', generation),
        jwk('ed25519', {}, 'EdDSA', generation),
      ],
    },
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'private_key_jwt', 'none'],
    enabledJWA: {
      idTokenSigningAlgValues: ['RS256', 'ES256', 'EdDSA', 'HS256'], userinfoSigningAlgValues: ['RS256', 'ES256', 'EdDSA'],
      clientAuthSigningAlgValues: ['RS256', 'ES256', 'EdDSA', 'HS256'],
    },
    claims: { openid: ['sub'], profile: ['name', 'picture'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: !settings.claimsInIDToken,
    cookies: { keys: ['only for tests'] },
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: false },
      jwtUserinfo: { enabled: true },
      resourceIndicators: {
        enabled: Boolean(settings.accessTokenAlg),
        defaultResource: () => 'https://api.example',
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: 'openid profile email', audience: 'https://api.example', accessTokenFormat: 'jwt',
          jwt: { sign: settings.accessTokenAlg === 'HS256' ? { alg: 'HS256', key: Buffer.alloc(32, 'k') } : { alg: settings.accessTokenAlg } },
        }),
      },
    },
    interactions: { url: (ctx, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (ctx, id) => ({
      accountId: id,
      claims: () => ({ sub: id, name: id === 'ada' ? 'Ada Lovelace' : 'Bob', email: `${id}@example.com`, email_verified: true, picture: 'https://img.example/ada' }),
    }),
    renderError: (ctx, out) => { ctx.body = JSON.stringify(out); },
  });
  provider.on('server_error', (ctx, error) => console.error(error));
  provider.on('grant.error', (ctx, error) => console.error(error.message, error.error_description, error.error_detail));
  return provider;
}

async function interact(provider, req, res) {
  const { params } = await provider.interactionDetails(req, res);
  const accountId = params.login_hint === 'bob' ? 'bob' : 'ada';
  const grant = new provider.Grant({ accountId, clientId: params.client_id });
  grant.addOIDCScope(params.scope);
  grant.addResourceScope('https://api.example', params.scope);
  await provider.interactionFinished(req, res, { login: { accountId }, consent: { grantId: await grant.save() } });
}

async function open(settings) {
  const server = createServer();
  const issuer = await listen(server);
  let generation = 1;
  let provider = start(issuer, settings, generation);
  server.on('request', (req, res) => {
    if (req.url === '/rotate') {
      generation += 1;
      provider = start(issuer, settings, generation);
      res.end();
    } else if (req.url.startsWith('/interaction/')) {
      interact(provider, req, res).catch((error) => { console.error(error); res.writeHead(500).end(); });
    } else {
      provider.callback()(req, res);
    }
  });
  return issuer;
}

const opener = createServer(async (req, res) => {
  try {
    res.end(await open(await json(req)));
  } catch (error) {
    console.error(error);
    res.writeHead(500).end();
  }
});

process.stdin.resume().on('end', () => process.exit());
console.log(await listen(opener));
