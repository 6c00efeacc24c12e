// What a client of A2A 0.3 does with an agent of ours: node client.mjs CARD-URL JSONRPC|HTTP+JSON
// The agent does what the beginning of a message's id says (see conformance/).
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client';

const [cardUrl, transport] = process.argv.slice(2);

const factory = new ClientFactory(
  ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new JsonRpcTransportFactory(), new RestTransportFactory()],
    preferredTransports: [transport],
  }),
);
const client = await factory.createFromUrl(cardUrl, '');

const request = (prefix, more = {}, configuration = { blocking: true }) => ({
  message: { kind: 'message', messageId: `${prefix}-${randomUUID()}`, role: 'user', parts: [{ kind: 'text', text: 'hi' }], ...more },
  configuration,
});
const text = (items) =>
  items
    .filter((item) => item.kind === 'artifact-update')
    .flatMap((item) => item.artifact.parts)
    .map((part) => part.text ?? '')
    .join('');

async function collect(stream, enough = () => false) {
  const items = [];
  for await (const item of stream) {
    items.push(item);
    if (enough(items)) break;
  }
  return items;
}

async function refused(promise, pattern) {
  await assert.rejects(promise, (error) => pattern.test(`${error.name} ${error.message} ${JSON.stringify(error)}`));
}

const steps = {
  async 'send waits for the end'() {
    const task = await client.sendMessage(request('tck-complete-task'));
    assert.equal(task.kind, 'task');
    assert.equal(task.status.state, 'completed');
    assert.equal((await client.getTask({ id: task.id })).contextId, task.contextId);
  },
  async 'a stream has one final event, its last'() {
    const items = await collect(client.sendMessageStream(request('tck-stream-artifact-chunked')));
    assert.equal(text(items), 'chunk-1 chunk-2');
    assert.deepEqual(items.filter((item) => item.final), [items.at(-1)]);
    assert.equal(items.at(-1).status.state, 'completed');
  },
  async 'what an agent asks is answered'() {
    const task = await client.sendMessage(request('tck-input-required'));
    assert.equal(task.status.state, 'input-required');
    const done = await client.sendMessage(request('tck-complete-task', { taskId: task.id, contextId: task.contextId }));
    assert.equal(done.id, task.id);
    assert.equal(done.status.state, 'completed');
  },
  async 'a task is canceled'() {
    const task = await client.sendMessage(request('tck-input-required'));
    assert.equal((await client.cancelTask({ id: task.id })).status.state, 'canceled');
    const done = await client.sendMessage(request('tck-complete-task'));
    await refused(client.cancelTask({ id: done.id }), /cancel/i);
  },
  async 'a stream that was cut is taken up again'() {
    const first = await collect(client.sendMessageStream(request('test-resubscribe-message-id')), (items) => items.length === 2);
    const id = first[0].kind === 'task' ? first[0].id : first[0].taskId;
    const rest = await collect(client.resubscribeTask({ id }));
    assert.equal(text(rest), 'Long work done');
    assert.equal(rest.at(-1).status.state, 'completed');
  },
  async 'a webhook is told'() {
    let finished;
    const ended = new Promise((resolve) => (finished = resolve));
    const hook = createServer((incoming, outgoing) => {
      let body = '';
      incoming.on('data', (piece) => (body += piece));
      incoming.on('end', () => {
        outgoing.end();
        const task = JSON.parse(body);
        if (task.status.state === 'completed') finished({ task, token: incoming.headers['x-a2a-notification-token'] });
      });
    });
    await new Promise((resolve) => hook.listen(0, '127.0.0.1', resolve));
    try {
      const task = await client.sendMessage(request('tck-input-required'));
      const url = `http://127.0.0.1:${hook.address().port}/hook`;
      const kept = await client.setTaskPushNotificationConfig({ taskId: task.id, pushNotificationConfig: { id: 'w', url, token: 't' } });
      assert.equal(kept.pushNotificationConfig.url, url);
      await client.sendMessage(request('tck-complete-task', { taskId: task.id, contextId: task.contextId }));
      const told = await ended;
      assert.equal(told.task.id, task.id);
      assert.equal(told.token, 't');
    } finally {
      hook.close();
    }
  },
  async 'errors say what is wrong'() {
    await refused(client.getTask({ id: 'no-such-task' }), /not found|TaskNotFound|-32001/i);
  },
};

for (const [name, step] of Object.entries(steps)) {
  try {
    await step();
    console.log(`ok ${name}`);
  } catch (error) {
    console.log(`failed ${name}`);
    console.log(error);
    process.exitCode = 1;
  }
}
