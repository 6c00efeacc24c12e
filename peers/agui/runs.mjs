// Runs of every shape with a real AG-UI client, which checks what it gets: node runs.mjs URL
import assert from 'node:assert/strict';
import { HttpAgent, runHttpRequest, transformHttpEventStream } from '@ag-ui/client';
import { scenarios } from './scenarios.mjs';

const url = process.argv[2];
const warnings = [];
console.warn = (...words) => warnings.push(words.join(' '));
console.error = () => {};

// A client that also reads threads again, which AG-UI itself has no words for.
class ThreadAgent extends HttpAgent {
  connect() {
    const events = `${this.url}/threads/${this.threadId}/events`;
    return transformHttpEventStream(runHttpRequest(() => fetch(events)));
  }
}

let threads = 0;
function agent(type = 'agent-code', more = {}) {
  return new ThreadAgent({ url: `${url}/ag-ui/${type}`, threadId: `peer-${threads++}`, ...more });
}

let ids = 0;
const user = (content) => ({ id: `user-${ids++}`, role: 'user', content });

// Says something, if there is something to say, and gathers what happens.
async function run(client, words, parameters = {}) {
  if (words !== undefined) client.addMessage(user(words));
  const events = [];
  let failed;
  const subscriber = {
    onEvent: ({ event }) => void events.push(event),
    onRunFailed: ({ error }) => void (failed = error),
  };
  let result;
  try {
    result = await client.runAgent(parameters, subscriber);
  } catch (error) {
    failed = error;
  }
  const types = events.map((event) => event.type);
  return { events, types, failed, last: events.at(-1), ...result };
}

const texts = (client) => client.messages.filter((m) => m.role === 'assistant' && !m.subagentRunId).map((m) => m.content);
const ok = (done) => (assert.equal(done.failed, undefined), done);
const answer = (client, status, payload) => ({
  resume: client.pendingInterrupts.map(({ id }) => ({ interruptId: id, status, payload })),
});

// Text, in several turns on one thread.
const talker = agent();
ok(await run(talker, 'count to 5'));
ok(await run(talker, 'say two'));
assert.deepEqual(texts(talker), ['1 2 3 4 5', 'two']);

// Reasoning.
const thinker = agent();
const thought = ok(await run(thinker, 'think about tea'));
assert.ok(thought.types.includes('REASONING_MESSAGE_CONTENT'));
assert.equal(thinker.messages.filter((m) => m.role === 'reasoning').length, 4);

// Tools of the agent.
const tools = agent();
ok(await run(tools, 'calculate 6*7'));
assert.ok(tools.messages.some((m) => m.role === 'tool' && m.content.includes('42')));
ok(await run(tools, 'list files'));

// Sub-agents, and a supervisor with one and with several.
const team = agent();
const helped = ok(await run(team, 'delegate think about tea to research and writer'));
assert.equal(helped.types.filter((type) => type === 'SUBAGENT_FINISHED').length, 2);
assert.ok(team.messages.some((m) => m.subagentRunId));
const single = agent('supervisor');
ok(await run(single, 'say hello'));
assert.deepEqual(texts(single), ['hello']);
const several = agent('supervisor');
ok(await run(several, 'delegate say hi to code and data'));
assert.match(texts(several).at(-1), /## Code\n\nhi/);

// Approvals: given, with other arguments, refused, abandoned.
for (const [status, payload, expected] of [
  ['resolved', true, /hello/],
  ['resolved', { approved: true, editedArgs: { command: 'echo other' } }, /other/],
  ['resolved', { approved: false, reason: 'not now' }, /not now|shell/],
  ['cancelled', undefined, /abandoned|shell/],
]) {
  const careful = agent();
  const asked = ok(await run(careful, 'run echo hello'));
  assert.equal(asked.last.outcome.type, 'interrupt');
  assert.equal(careful.pendingInterrupts[0].reason, 'tool_call');
  ok(await run(careful, undefined, answer(careful, status, payload)));
  assert.equal(careful.pendingInterrupts.length, 0);
  assert.match(JSON.stringify(careful.messages), expected);
}

// An approval far below.
const deep = agent();
ok(await run(deep, 'delegate run echo deep to research'));
const suspended = deep.pendingInterrupts[0].subagentRunId;
const resumed = ok(await run(deep, undefined, answer(deep, 'resolved', true)));
assert.ok(resumed.events.some((e) => e.type === 'SUBAGENT_FINISHED' && e.subagentRunId === suspended));

// Questions: answered, and abandoned.
const curious = agent();
ok(await run(curious, 'ask me which colour'));
ok(await run(curious, undefined, answer(curious, 'resolved', 'blue')));
assert.match(texts(curious).at(-1), /blue/);
ok(await run(curious, 'ask me which size'));
ok(await run(curious, undefined, answer(curious, 'cancelled')));

// Tools of the application.
const offered = { tools: [{ name: 'open_page', description: 'Opens a page', parameters: { type: 'object' } }] };
const page = agent();
let pending;
page.subscribe({ onRunFinishedEvent: (params) => void (pending = params.pendingToolCallIds) });
ok(await run(page, 'use open_page {"path": "/help"}', offered));
assert.equal(pending.length, 1);
page.addMessage({ id: 'tool-1', role: 'tool', toolCallId: pending[0], content: 'opened' });
ok(await run(page, undefined, offered));
assert.equal(texts(page).at(-1), 'open_page answered: opened');
assert.deepEqual(pending, []);

// State, and what the agent writes.
const writer = agent('agent-code', { initialState: { colour: 'blue' } });
const report = ok(await run(writer, 'write a report on tea'));
assert.ok(report.types.includes('ACTIVITY_SNAPSHOT'));
assert.equal(writer.state.colour, 'blue');

// Failures: in a run, and before one.
const failing = agent();
const error = await run(failing, 'fail');
assert.equal(error.last.type, 'RUN_ERROR');
const nobody = await run(agent('nobody'), 'hello');
assert.match(String(nobody.failed), /404/);

// A run that is stopped.
const stopped = agent();
const stopping = run(stopped, 'count slowly to 1000');
const cancel = async () => (await fetch(`${stopped.url}/threads/${stopped.threadId}/cancel`, { method: 'POST' })).status;
while ((await cancel()) !== 202);
assert.equal(ok(await stopping).last.outcome.type, 'cancelled');
ok(await run(stopped, 'say after'));

// A thread that somebody else reads: the same messages, by their ids.
for (const client of [talker, thinker, tools, team, several, deep, curious, page]) {
  const reader = new ThreadAgent({ url: client.url, threadId: client.threadId });
  await reader.connectAgent();
  const known = (m) => m.role === 'user' || m.role === 'assistant' || m.role === 'tool';
  const shown = ({ id, role, content, toolCalls, toolCallId, subagentRunId }) =>
    JSON.parse(JSON.stringify({ id, role, content: content || undefined, toolCalls, toolCallId, subagentRunId }));
  assert.deepEqual(reader.messages.filter(known).map(shown), client.messages.filter(known).map(shown));
}

// A person who changes the past.
const editor = agent();
ok(await run(editor, 'say one'));
ok(await run(editor, 'say two'));
editor.setMessages(editor.messages.slice(0, 2));
ok(await run(editor, 'say three'));
assert.deepEqual(texts(editor), ['one', 'three']);
editor.setMessages(editor.messages.slice(0, -1));
ok(await run(editor));
assert.deepEqual(texts(editor), ['one', 'three']);

// What clients of every version do.
await scenarios(
  'agui',
  (type, threadId) => new ThreadAgent({ url: `${url}/ag-ui/${type}`, threadId }),
  async (client) => {
    const late = new ThreadAgent({ url: client.url, threadId: client.threadId });
    await late.connectAgent();
    return late;
  },
);

assert.deepEqual(warnings, []);
console.log('ok');
