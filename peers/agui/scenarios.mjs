// The scenarios that every AG-UI client runs. A client is a function that makes agents:
// agent(type, threadId) is an HttpAgent of the package under test. `reader` reads a thread again.
import assert from 'node:assert/strict';

const OPEN_PAGE = { name: 'open_page', description: 'Opens a page', parameters: { type: 'object', properties: {} } };

let threads = 0;
let ids = 0;
const user = (content) => ({ id: `user-${++ids}`, role: 'user', content });

// Says something, if there is something to say, and returns the events of the run.
export async function run(agent, words, parameters = {}) {
  if (words !== undefined) agent.addMessage(user(words));
  const events = [];
  let failed;
  try {
    await agent.runAgent(parameters, { onEvent: ({ event }) => void events.push(event) });
  } catch (error) {
    failed = error;
  }
  return { events, failed, last: events.at(-1) };
}

function succeeded(result) {
  assert.equal(result.failed, undefined, String(result.failed?.stack ?? result.failed));
  assert.equal(result.last?.type, 'RUN_FINISHED', JSON.stringify(result.last));
  return result;
}

// What the agent itself said, message by message.
export function answers(agent) {
  return agent.messages.filter((m) => m.role === 'assistant' && m.content && !m.subagentRunId).map((m) => m.content);
}

function interrupts(result) {
  assert.equal(result.last.outcome.type, 'interrupt');
  return result.last.outcome.interrupts;
}

function resolved(result, payload) {
  return { resume: interrupts(result).map(({ id }) => ({ interruptId: id, status: 'resolved', payload })) };
}

// The calls that the application has not answered.
function openCalls(agent) {
  const done = new Set(agent.messages.filter((m) => m.role === 'tool').map((m) => m.toolCallId));
  return agent.messages.flatMap((m) => m.toolCalls ?? []).filter((call) => !done.has(call.id));
}

export async function scenarios(name, client, reader) {
  const agent = (type = 'agent-code') => client(type, `${name}-${++threads}`);

  const plain = agent();
  succeeded(await run(plain, 'count to 5'));
  assert.deepEqual(answers(plain), ['1 2 3 4 5'], 'a plain answer');

  succeeded(await run(plain, 'say two'));
  assert.deepEqual(answers(plain), ['1 2 3 4 5', 'two'], 'a second turn');

  const caller = agent();
  succeeded(await run(caller, 'calculate 6*7'));
  assert.ok(
    caller.messages.some((m) => m.role === 'tool' && m.content.includes('42')),
    'a tool call',
  );

  const page = agent();
  succeeded(await run(page, 'use open_page {"path": "/help"}', { tools: [OPEN_PAGE] }));
  const [call] = openCalls(page);
  assert.equal(call.function.name, 'open_page', 'a tool of the application');
  page.addMessage({ id: `tool-${++ids}`, role: 'tool', toolCallId: call.id, content: 'opened' });
  succeeded(await run(page, undefined, { tools: [OPEN_PAGE] }));
  assert.equal(answers(page).at(-1), 'open_page answered: opened');

  const careful = agent();
  const asked = succeeded(await run(careful, 'run echo hello'));
  assert.equal(interrupts(asked)[0].reason, 'tool_call', 'an approval');
  succeeded(await run(careful, undefined, resolved(asked, { approved: true })));
  assert.match(answers(careful).at(-1), /hello/);

  const refusing = agent();
  const refused = succeeded(await run(refusing, 'run echo hello'));
  succeeded(await run(refusing, undefined, resolved(refused, { approved: false, reason: 'not now' })));
  assert.match(JSON.stringify(refusing.messages), /not now/, 'an approval that is refused');

  const curious = agent();
  const question = succeeded(await run(curious, 'ask me which colour'));
  assert.equal(interrupts(question)[0].reason, 'input_required', 'a question');
  succeeded(await run(curious, undefined, resolved(question, 'blue')));
  assert.match(answers(curious).at(-1), /blue/);

  const team = agent();
  const helped = succeeded(await run(team, 'delegate think about tea to research and writer'));
  assert.equal(helped.events.filter((e) => e.type === 'SUBAGENT_FINISHED').length, 2, 'sub-agents');

  const supervised = agent('supervisor');
  succeeded(await run(supervised, 'say hello'));
  assert.deepEqual(answers(supervised), ['hello'], 'a supervisor');

  const failing = agent();
  const error = await run(failing, 'fail');
  assert.equal(error.last.type, 'RUN_ERROR', 'an error');
  succeeded(await run(failing, 'say better'));
  assert.equal(answers(failing).at(-1), 'better', 'a turn after an error');

  for (const one of [plain, caller, page, careful, curious]) {
    const late = await reader(one);
    assert.deepEqual(answers(late), answers(one), 'a reader who comes later');
  }
}
