// OpenAI's own client and its agent SDK, unmodified: node runs.mjs URL
import assert from 'node:assert/strict';
import OpenAI, { APIError, NotFoundError, BadRequestError } from 'openai';
import { Agent, OpenAIConversationsSession, OpenAIProvider, Runner, hostedMcpTool, setTracingDisabled, tool } from '@openai/agents';
import { z } from 'zod';

const url = process.argv[2];
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'not-needed', maxRetries: 0 });
const model = 'agent-code';

async function gather(stream) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}

const weather = {
  name: 'get_weather',
  description: 'The weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const useWeather = 'use get_weather {"city":"Oslo"}';
const outputs = (response, output) =>
  response.output
    .filter((item) => item.type === 'function_call')
    .map((item) => ({ type: 'function_call_output', call_id: item.call_id, output }));

// --- models ---------------------------------------------------------------------------------
const models = (await gather(await client.models.list())).map((one) => one.id);
assert.ok(models.includes(model) && models.includes('supervisor'));
assert.equal((await client.models.retrieve(model)).id, model);
await assert.rejects(client.models.retrieve('gpt-4'), (error) => {
  assert.ok(error instanceof NotFoundError);
  assert.match(error.message, /does not exist/);
  assert.equal(error.code, 'not_found');
  assert.equal(error.type, 'invalid_request_error');
  return true;
});

// --- chat completions -----------------------------------------------------------------------
const counted = await client.chat.completions.create({
  model,
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'count to 5' },
  ],
});
assert.equal(counted.choices[0].message.content, '1 2 3 4 5');
assert.equal(counted.choices[0].finish_reason, 'stop');
assert.ok(counted.usage.total_tokens > 0);
assert.equal(counted.usage.total_tokens, counted.usage.prompt_tokens + counted.usage.completion_tokens);

const chunks = await gather(
  await client.chat.completions.create({
    model,
    stream: true,
    stream_options: { include_usage: true },
    messages: [{ role: 'user', content: [{ type: 'text', text: 'count to 3' }] }],
  }),
);
assert.equal(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''), '1 2 3');
assert.equal(chunks.at(-2).choices[0].finish_reason, 'stop');
assert.ok(chunks.at(-1).usage.total_tokens > 0);

// The client sends the whole conversation again: the agent sees it.
const again = await client.chat.completions.create({
  model,
  messages: [
    { role: 'user', content: 'say one' },
    { role: 'assistant', content: 'one' },
    { role: 'user', content: 'say two' },
  ],
});
assert.equal(again.choices[0].message.content, 'two');

// The client runs a function, with the helper that does it by itself.
const cities = [];
const runner = client.chat.completions.runTools({
  model,
  messages: [{ role: 'user', content: useWeather }],
  tools: [
    {
      type: 'function',
      function: { ...weather, parse: JSON.parse, function: ({ city }) => (cities.push(city), 'sunny') },
    },
  ],
});
assert.match(await runner.finalContent(), /sunny/);
assert.deepEqual(cities, ['Oslo']);
assert.equal(runner.messages.at(-3).tool_calls[0].function.name, 'get_weather');

// A plain client answers an approval with text.
const asked = await client.chat.completions.create({ model, messages: [{ role: 'user', content: 'run echo hello' }] });
const question = asked.choices[0].message;
assert.match(question.content, /Reply "yes" to approve/);
const history = [{ role: 'user', content: 'run echo hello' }, question];
const approved = await client.chat.completions.create({ model, messages: [...history, { role: 'user', content: 'Yes' }] });
assert.match(approved.choices[0].message.content, /hello/);
const other = await client.chat.completions.create({ model, messages: [{ role: 'user', content: 'run echo secret' }] });
const declined = await client.chat.completions.create({
  model,
  messages: [{ role: 'user', content: 'run echo secret' }, other.choices[0].message, { role: 'user', content: 'better not' }],
});
assert.match(declined.choices[0].message.content, /better not|declined|denied|not approved/i);

// A question of the agent, in a context that the client names.
const named = { headers: { 'X-Parley-Context': 'openai-peer' } };
const color = await client.chat.completions.create(
  { model, messages: [{ role: 'user', content: 'ask me which color' }] },
  named,
);
assert.match(color.choices[0].message.content, /which color/i);
const red = await client.chat.completions.create({ model, messages: [{ role: 'user', content: 'red' }] }, named);
assert.match(red.choices[0].message.content, /red/);

// Failures and requests that cannot be served.
await assert.rejects(client.chat.completions.create({ model, messages: [{ role: 'user', content: 'fail' }] }), (error) => {
  assert.ok(error instanceof APIError);
  assert.equal(error.status, 500);
  return true;
});
await assert.rejects(
  gather(await client.chat.completions.create({ model, stream: true, messages: [{ role: 'user', content: 'fail' }] })),
  APIError,
);
const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
await assert.rejects(
  client.chat.completions.create({ model, messages: [{ role: 'user', content: [picture] }] }),
  (error) => error instanceof BadRequestError && error.code === 'unsupported_content',
);
const text = `data:text/plain;base64,${Buffer.from('count to 2').toString('base64')}`;
const file = await client.chat.completions.create({
  model,
  messages: [{ role: 'user', content: [{ type: 'file', file: { filename: 'a.txt', file_data: text } }] }],
});
assert.ok(file.choices[0].message.content.length > 0);

// --- responses ------------------------------------------------------------------------------
const first = await client.responses.create({ model, input: 'count to 4', metadata: { topic: 'numbers' } });
assert.equal(first.output_text, '1 2 3 4');
assert.equal(first.status, 'completed');
assert.deepEqual(first.metadata, { topic: 'numbers' });
assert.ok(first.usage.total_tokens > 0);
assert.deepEqual((await client.responses.retrieve(first.id)).output, first.output);

const second = await client.responses.create({ model, input: 'say next', previous_response_id: first.id });
assert.equal(second.output_text, 'next');
assert.equal(second.previous_response_id, first.id);
assert.equal(second.conversation.id, first.conversation.id);
const items = await gather(await client.responses.inputItems.list(second.id));
assert.deepEqual(items.map((item) => item.content[0].text), ['say next']);

// An older response is continued in a fork.
const branch = await client.responses.create({ model, input: 'say branch', previous_response_id: first.id });
assert.notEqual(branch.conversation.id, first.conversation.id);
assert.equal(branch.output_text, 'branch');

// Streams, and streams that begin later.
const stream = client.responses.stream({ model, input: 'think about tea' });
const events = await gather(stream);
const thought = await stream.finalResponse();
assert.deepEqual(events.map((event) => event.sequence_number), events.map((_, index) => index));
assert.ok(events.some((event) => event.type === 'response.reasoning_summary_text.delta'));
assert.equal(events.at(-1).type, 'response.completed');
const rest = await gather(await client.responses.retrieve(thought.id, { stream: true, starting_after: 10 }));
assert.deepEqual(rest, events.slice(11).map(({ snapshot, ...event }) => event));

// Calls of the server's tools.
const computed = await client.responses.create({ model, input: 'calculate 6*7' });
const call = computed.output.find((item) => item.type === 'mcp_call');
assert.match(call.output, /42/);
assert.equal(call.status, 'completed');

// The client's tools.
const tools = [{ type: 'function', ...weather, strict: false }];
const asks = await client.responses.create({ model, input: useWeather, tools });
assert.equal(asks.status, 'completed');
const functionCall = asks.output.find((item) => item.type === 'function_call');
assert.deepEqual(JSON.parse(functionCall.arguments), { city: 'Oslo' });
await assert.rejects(
  client.responses.create({ model, input: 'hello', previous_response_id: asks.id, tools }),
  /No tool output found for function call/,
);
const given = { model, input: outputs(asks, 'rainy'), previous_response_id: asks.id, tools };
const told = await client.responses.create(given);
assert.match(told.output_text, /rainy/);
assert.notEqual(told.id, asks.id);
// A repeated result changes nothing.
assert.equal((await client.responses.create(given)).id, told.id);
const sent = await gather(await client.responses.inputItems.list(told.id));
assert.deepEqual(sent.map((item) => item.output), ['rainy']);

// Without state: the client sends all items again.
const stateless = await client.responses.create({ model, input: useWeather, tools, store: false });
const resent = [{ role: 'user', content: useWeather }, ...stateless.output, ...outputs(stateless, 'windy')];
assert.match((await client.responses.create({ model, input: resent, tools, store: false })).output_text, /windy/);

// Approvals: as text, as items, and as function calls.
const plain = await client.responses.create({ model, input: 'run echo hi' });
assert.match(plain.output_text, /Reply "yes"/);
assert.match((await client.responses.create({ model, input: 'yes', previous_response_id: plain.id })).output_text, /hi/);
const mcp = [{ type: 'mcp', server_label: 'parley', server_url: url }];
const request = await client.responses.create({ model, input: 'run echo ho', tools: mcp });
const approval = request.output.find((item) => item.type === 'mcp_approval_request');
assert.match(approval.arguments, /echo ho/);
const granted = await client.responses.create({
  model,
  previous_response_id: request.id,
  tools: mcp,
  input: [{ type: 'mcp_approval_response', approval_request_id: approval.id, approve: true }],
});
assert.match(granted.output_text, /ho/);
const asking = [{ type: 'function', name: 'ask_user', parameters: { type: 'object' }, strict: false }];
const ask = await client.responses.create({ model, input: 'ask me how old', tools: asking });
assert.match(JSON.parse(ask.output.find((item) => item.type === 'function_call').arguments).question, /how old/);
const old = await client.responses.create({ model, input: outputs(ask, 'seven'), previous_response_id: ask.id });
assert.match(old.output_text, /seven/);

// In the background, canceled, and deleted.
const slow = await client.responses.create({ model, input: 'count slowly to 100000', background: true });
assert.ok(['queued', 'in_progress'].includes(slow.status));
assert.equal((await client.responses.cancel(slow.id)).status, 'cancelled');
assert.equal((await client.responses.retrieve(slow.id)).status, 'cancelled');
await client.responses.delete(second.id);
await assert.rejects(client.responses.retrieve(second.id), NotFoundError);
assert.equal((await client.responses.retrieve(first.id)).id, first.id);
await client.responses.delete(thought.id);
await assert.rejects(client.responses.retrieve(thought.id), NotFoundError);
await assert.rejects(client.responses.retrieve('resp_unknown'), NotFoundError);

// Conversations.
const conversation = await client.conversations.create({
  metadata: { of: 'peer' },
  items: [{ type: 'message', role: 'user', content: 'My name is Ada.' }],
});
const hello = await client.responses.create({ model, conversation: conversation.id, input: 'say hello' });
assert.equal(hello.conversation.id, conversation.id);
const page = await gather(await client.conversations.items.list(conversation.id, { order: 'asc', limit: 2 }));
assert.deepEqual(page.map((item) => item.content[0].text), ['My name is Ada.', 'say hello', 'hello']);
await client.conversations.delete(conversation.id);
await assert.rejects(client.conversations.retrieve(conversation.id), NotFoundError);

// --- the agent SDK --------------------------------------------------------------------------
setTracingDisabled(true);
for (const useResponses of [true, false]) {
  const run = new Runner({ modelProvider: new OpenAIProvider({ openAIClient: client, useResponses }) });
  const calls = [];
  const getWeather = tool({
    name: 'get_weather',
    description: 'The weather of a city',
    parameters: z.object({ city: z.string() }),
    execute: ({ city }) => (calls.push(city), 'snow'),
  });
  const agent = new Agent({ name: 'Peer', instructions: 'Be kind.', model, tools: [getWeather] });
  const result = await run.run(agent, useWeather);
  assert.match(result.finalOutput, /snow/);
  assert.deepEqual(calls, ['Oslo']);
  // The next turn sends all items again.
  const next = await run.run(agent, [...result.history, { role: 'user', content: 'say bye' }]);
  assert.equal(next.finalOutput, 'bye');
  const streamed = await run.run(agent, 'count to 3', { stream: true });
  let heard = '';
  for await (const piece of streamed.toTextStream()) heard += piece;
  assert.equal(heard, '1 2 3');
  await streamed.completed;
}
const run = new Runner({ modelProvider: new OpenAIProvider({ openAIClient: client, useResponses: true }) });
const session = new OpenAIConversationsSession({ client });
const chatty = new Agent({ name: 'Peer', model });
await run.run(chatty, 'say first', { session });
assert.equal((await run.run(chatty, 'say second', { session })).finalOutput, 'second');
assert.ok((await session.getItems()).length >= 4);

// An approval interrupts the run, and the SDK's own decision continues it.
const careful = new Agent({
  name: 'Peer',
  model,
  tools: [hostedMcpTool({ serverLabel: 'parley', serverUrl: url, requireApproval: 'always' })],
});
const interrupted = await run.run(careful, 'run echo done');
assert.equal(interrupted.interruptions.length, 1);
interrupted.state.approve(interrupted.interruptions[0]);
assert.match((await run.run(careful, interrupted.state)).finalOutput, /done/);

console.log('ok');
