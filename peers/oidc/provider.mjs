// An OpenID provider with its own pages for login and consent: node provider.mjs REDIRECT_URI LOGOUT_URI
// Prints its issuer. A line {"groups": [...]} on the input changes the groups of everybody.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import Provider from 'oidc-provider';

const [redirectUri, logoutUri] = process.argv.slice(2);
console.warn = () => {};
console.info = () => {};
const server = createServer();
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const issuer = `http://127.0.0.1:${server.address().port}`;
let groups = ['staff'];

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'parley',
      client_secret: 'the-secret-of-parley',
      redirect_uris: [redirectUri],
      post_logout_redirect_uris: [logoutUri],
    },
  ],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
  pkce: { required: () => true },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({
      sub: id,
      name: `${id} of Example`,
      email: `${id}@example.org`,
      email_verified: true,
      groups,
    }),
  }),
});
server.on('request', provider.callback());

createInterface({ input: process.stdin })
  .on('line', (line) => {
    groups = JSON.parse(line).groups;
    console.log(JSON.stringify({ is: 'groups', groups }));
  })
  .on('close', () => process.exit(0));
console.log(JSON.stringify({ is: 'ready', issuer }));
