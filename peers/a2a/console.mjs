// Tells the tests what happens, a JSON object a line, and does what they say, a word a line.
import { createInterface } from 'node:readline';
import express from 'express';
import { go, waits } from './agent.mjs';

export const tell = (is, more = {}) => process.stdout.write(JSON.stringify({ is, ...more }) + '\n');

/** Starts an Express application on a free port of this machine. */
export async function start(build) {
  const app = express();
  app.use(express.json({ type: ['application/json', 'application/a2a+json'], limit: '50mb' }));
  app.use((request, response, next) => {
    tell('request', {
      method: request.method,
      path: request.url,
      rpc: request.body?.method,
      version: request.get('a2a-version'),
      authorization: request.get('authorization'),
      known: request.get('if-none-match'),
      last: request.get('last-event-id'),
      tenant: request.body?.params?.tenant ?? request.body?.tenant,
    });
    response.on('finish', () => tell('answered', { path: request.url, status: response.statusCode }));
    next();
  });
  const wanted = Number(process.env.PORT ?? 0);
  const server = await new Promise((resolve) => {
    const it = app.listen(wanted, '127.0.0.1', () => resolve(it));
  });
  const sockets = new Set();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  const url = `http://127.0.0.1:${server.address().port}`;
  await build(app, url);
  createInterface({ input: process.stdin }).on('line', (line) => {
    const [word, number] = line.split(' ');
    if (word === 'go') go(Number(number ?? 1));
    if (word === 'cut') sockets.forEach((socket) => socket.destroy());
    tell('done', { line, waits: waits() });
  });
  tell('ready', { url });
}
