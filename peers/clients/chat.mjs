// A client of the chat API, which follows the examples of its documentation: node chat.mjs URL
import assert from 'node:assert/strict';
import { EventSource } from 'eventsource';

const url = process.argv[2];

async function call(method, path, body) {
  const response = await fetch(url + path, {
    method,
    headers: { 'Content-Type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return { status: response.status, ok: response.ok, body: await response.json() };
}

// Subscribes as section 12.3 does, and gathers what its listeners would print.
function subscribe(conversationId) {
  const eventSource = new EventSource(`${url}/chat/stream?conversationId=${conversationId}`);
  const seen = { lines: [], output: '', errors: [], ids: [] };
  const done = new Promise((resolve) => {
    eventSource.addEventListener('task_started', (e) => {
      const event = JSON.parse(e.data);
      seen.lines.push(`Agent ${event.agentName} started task ${event.taskId}`);
    });
    eventSource.addEventListener('task_progress', (e) => {
      const event = JSON.parse(e.data);
      seen.lines.push(`Progress: ${event.content}`);
    });
    eventSource.addEventListener('tool_call', (e) => {
      const event = JSON.parse(e.data);
      seen.lines.push(`Calling tool: ${event.data.tool}`);
    });
    eventSource.addEventListener('tool_result', (e) => {
      const event = JSON.parse(e.data);
      seen.lines.push(`Tool result: ${event.data.success ? 'success' : 'failed'}`);
    });
    eventSource.addEventListener('task_output', (e) => {
      const event = JSON.parse(e.data);
      seen.output += event.content;
      seen.ids.push(e.lastEventId);
    });
    eventSource.addEventListener('completed', (e) => {
      seen.completed = JSON.parse(e.data);
      resolve(seen);
    });
    eventSource.addEventListener('task_cancelled', (e) => {
      const event = JSON.parse(e.data);
      if (!event.parentTaskId) {
        seen.cancelled = event;
        resolve(seen);
      }
    });
    eventSource.addEventListener('task_failed', (e) => {
      const event = JSON.parse(e.data);
      if (!event.parentTaskId) seen.failed = event;
    });
    eventSource.addEventListener('error', (e) => {
      // The transport's own errors have no data (CHAT-41).
      if (e.data === undefined) return;
      seen.errors.push(JSON.parse(e.data).error);
      resolve(seen);
    });
  });
  const open = new Promise((resolve) => eventSource.addEventListener('open', resolve));
  return { open, done: done.finally(() => eventSource.close()) };
}

// 12.1 Starting a new conversation, then 12.3: post first, subscribe after (CHAT-42).
const first = await call('POST', '/chat/messages', { content: 'count to 5' });
assert.ok(first.ok);
assert.equal(first.body.success, true);
const { conversationId, messageId } = first.body;
const one = await subscribe(conversationId).done;
assert.equal(one.output, '1 2 3 4 5');
assert.equal(one.completed.content, '1 2 3 4 5');
assert.notEqual(one.completed.messageId, messageId);
assert.ok(one.lines.some((line) => /^Agent .+ started task [0-9a-f-]{36}$/.test(line)));
assert.ok(one.lines.some((line) => line.startsWith('Progress: ')));
assert.equal(new Set(one.ids).size, one.ids.length);

// Calls of tools: the supervisor calls one if several agents act.
const shared = await call('POST', '/chat/messages', {
  content: 'delegate tea to agent-research and agent-writer',
});
const several = await subscribe(shared.body.conversationId).done;
assert.ok(several.lines.includes('Calling tool: subagents'));
assert.ok(several.lines.includes('Tool result: success'));

// 12.2 Continuing a conversation, now subscribed before the message is sent (13.1).
const chosen = '550e8400-e29b-41d4-a716-446655440000';
const early = subscribe(chosen);
await early.open;
const second = await call('POST', '/chat/messages', { content: 'say hello', conversationId: chosen });
assert.equal(second.body.conversationId, chosen);
const two = await early.done;
assert.equal(two.output, 'hello');
const late = await subscribe(chosen).done;
assert.deepEqual(late, two);

// 12.5 Retrieving history.
const history = await call('GET', `/chat/conversations/${chosen}/messages`);
assert.equal(history.body.success, true);
assert.deepEqual(history.body.messages.map((m) => m.role), ['user', 'assistant']);
assert.equal(history.body.messages[1].id, two.completed.messageId);
assert.equal(history.body.messages[1].metadata.taskId, second.body.taskId);

// 13.3 Error handling.
const bad = await call('POST', '/chat/messages', { content: 'fail' });
const three = await subscribe(bad.body.conversationId).done;
assert.equal(three.errors.length, 1);
assert.equal(three.failed.error, three.errors[0]);
assert.equal(three.completed, undefined);
const refused = await call('POST', '/chat/messages', { content: ' ' });
assert.equal(refused.ok, false);
assert.equal(refused.body.success, false);

// 12.4 Cancelling a task.
const long = await call('POST', '/chat/messages', { content: 'count slowly to 1000' });
const four = subscribe(long.body.conversationId);
const cancelled = await call('DELETE', `/chat/tasks/${long.body.taskId}`);
assert.deepEqual(cancelled.body, { success: true, message: 'Task cancellation requested' });
assert.equal((await four.done).cancelled.taskId, long.body.taskId);

console.log('ok');
