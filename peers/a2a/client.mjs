// What a client of A2A 1.0 does with an agent of ours: node client.mjs CARD-URL JSONRPC|HTTP+JSON
// The agent does what the beginning of a message's id says (see conformance/).
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { CancelTaskRequest, GetTaskRequest, ListTasksRequest, SendMessageRequest, StreamResponse,
  SubscribeToTaskRequest, Task, TaskPushNotificationConfig } from '@a2a-js/sdk';
import { ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client';

const [cardUrl, transport] = process.argv.slice(2);

const factory = new ClientFactory(
  ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new JsonRpcTransportFactory(), new RestTransportFactory()],
    preferredTransports: [transport],
  }),
);
const client = await factory.createFromUrl(cardUrl, '');
assert.equal(client.protocolVersion, '1.0');

const request = (prefix, more = {}, configuration = {}) =>
  SendMessageRequest.fromJSON({
    message: { messageId: `${prefix}-${randomUUID()}`, role: 'ROLE_USER', parts: [{ text: 'hi' }], ...more },
    configuration,
  });
const json = (item) => StreamResponse.toJSON(item);
const state = (task) => Task.toJSON(task).status.state;
const text = (items) =>
  items
    .flatMap((item) => item.artifactUpdate?.artifact.parts ?? [])
    .map((part) => part.text ?? '')
    .join('');

async function collect(stream, enough = () => false) {
  const items = [];
  for await (const item of stream) {
    items.push(json(item));
    if (enough(items)) break;
  }
  return items;
}

async function send(...args) {
  const sent = await client.sendMessage(request(...args));
  return sent.payload?.$case === 'task' ? sent.payload.value : (sent.task ?? sent);
}

async function refused(promise, pattern) {
  await assert.rejects(promise, (error) => pattern.test(`${error.name} ${error.message} ${JSON.stringify(error)}`));
}

const steps = {
  async 'send waits for the end'() {
    const task = await send('tck-complete-task');
    assert.equal(state(task), 'TASK_STATE_COMPLETED');
    const again = await client.getTask(GetTaskRequest.fromJSON({ id: task.id }));
    assert.equal(again.id, task.id);
    assert.equal(again.contextId, task.contextId);
  },
  async 'a stream tells states and pieces in order'() {
    const items = await collect(client.sendMessageStream(request('tck-stream-artifact-chunked')));
    assert.ok(items[0].task, JSON.stringify(items[0]));
    assert.equal(text(items), 'chunk-1 chunk-2');
    assert.equal(items.at(-1).statusUpdate.status.state, 'TASK_STATE_COMPLETED');
  },
  async 'tasks are listed, page by page'() {
    const context = `ctx-${randomUUID()}`;
    const ids = new Set();
    for (let i = 0; i < 3; i++) ids.add((await send('tck-complete-task', { contextId: context })).id);
    const seen = new Set();
    let pageToken = '';
    do {
      const page = await client.listTasks(ListTasksRequest.fromJSON({ contextId: context, pageSize: 2, pageToken }));
      assert.equal(page.totalSize, 3);
      page.tasks.forEach((task) => seen.add(task.id));
      pageToken = page.nextPageToken;
    } while (pageToken);
    assert.deepEqual([...seen].sort(), [...ids].sort());
  },
  async 'what an agent asks is answered'() {
    const task = await send('tck-input-required');
    assert.equal(state(task), 'TASK_STATE_INPUT_REQUIRED');
    const done = await send('tck-complete-task', { taskId: task.id, contextId: task.contextId });
    assert.equal(done.id, task.id);
    assert.equal(state(done), 'TASK_STATE_COMPLETED');
  },
  async 'a task is canceled, once'() {
    const task = await send('tck-input-required');
    const canceled = await client.cancelTask(CancelTaskRequest.fromJSON({ id: task.id }));
    assert.equal(state(canceled), 'TASK_STATE_CANCELED');
    const done = await send('tck-complete-task');
    await refused(client.cancelTask(CancelTaskRequest.fromJSON({ id: done.id })), /cancel/i);
  },
  async 'a stream that was cut is taken up again'() {
    const first = await collect(client.sendMessageStream(request('test-resubscribe-message-id')), (items) => items.length === 2);
    const id = first[0].task.id;
    const rest = await collect(client.resubscribeTask(SubscribeToTaskRequest.fromJSON({ id })));
    assert.equal(rest[0].task.id, id);
    assert.equal(text(rest), 'Long work done');
    assert.equal(rest.at(-1).statusUpdate.status.state, 'TASK_STATE_COMPLETED');
  },
  async 'a webhook is told'() {
    const calls = [];
    let finished;
    const ended = new Promise((resolve) => (finished = resolve));
    const hook = createServer((incoming, outgoing) => {
      let body = '';
      incoming.on('data', (piece) => (body += piece));
      incoming.on('end', () => {
        calls.push({ authorization: incoming.headers.authorization, body: JSON.parse(body) });
        outgoing.end();
        if (body.includes('TASK_STATE_COMPLETED')) finished();
      });
    });
    await new Promise((resolve) => hook.listen(0, '127.0.0.1', resolve));
    try {
      const task = await send('tck-input-required');
      const config = await client.createTaskPushNotificationConfig(
        TaskPushNotificationConfig.fromJSON({
          taskId: task.id,
          url: `http://127.0.0.1:${hook.address().port}/hook`,
          authentication: { scheme: 'Bearer', credentials: 'c' },
        }),
      );
      assert.ok(config.id);
      const all = await client.listTaskPushNotificationConfig({ taskId: task.id, tenant: '', pageSize: 0, pageToken: '' });
      assert.equal(all.configs.length, 1);
      await send('tck-complete-task', { taskId: task.id, contextId: task.contextId });
      await ended;
      assert.ok(calls.every((call) => call.authorization === 'Bearer c'));
      await client.deleteTaskPushNotificationConfig({ taskId: task.id, id: config.id, tenant: '' });
    } finally {
      hook.close();
    }
  },
  async 'errors say what is wrong'() {
    await refused(client.getTask(GetTaskRequest.fromJSON({ id: 'no-such-task' })), /not found|TaskNotFound/i);
    await refused(client.sendMessage(request('m', { taskId: 'no-such-task' })), /not found|TaskNotFound/i);
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
