// The client of MCP's own SDK, unmodified: node client.mjs URL, or node client.mjs stdio PROGRAM...
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const [where, ...program] = process.argv.slice(2);

async function connect(capabilities = {}, answer) {
  const client = new Client({ name: 'peer', version: '1' }, { capabilities });
  if (answer) client.setRequestHandler(ElicitRequestSchema, answer);
  const transport =
    where === 'stdio'
      ? new StdioClientTransport({ command: program[0], args: program.slice(1), env: process.env })
      : new StreamableHTTPClientTransport(new URL('/mcp', where));
  await client.connect(transport);
  return client;
}

const text = (result) => result.content.find((part) => part.type === 'text').text;
const say = (message, context) => ({ name: 'agent-code', arguments: { message, context } });

// A client that cannot ask its user.
const plain = await connect();
assert.equal(plain.getServerVersion().name, 'parley');
await plain.ping();
const { tools } = await plain.listTools();
assert.ok(tools.some((tool) => tool.name === 'agent-code' && tool.inputSchema.properties.message));

const counted = await plain.callTool(say('count to 3'));
assert.equal(text(counted), '1 2 3');
assert.equal(counted.structuredContent.status, 'completed');
const { context } = counted.structuredContent;
const next = await plain.callTool(say('say more', context));
assert.equal(next.structuredContent.context, context);
assert.equal(text(next), 'more');

// Contexts and artifacts are resources.
const { resources } = await plain.listResources();
assert.ok(resources.some((one) => one.uri === `parley://contexts/${context}`));
const transcript = await plain.readResource({ uri: `parley://contexts/${context}` });
assert.match(transcript.contents[0].text, /count to 3[^]*1 2 3[^]*say more/);
const report = await plain.callTool(say('write a report on rivers'));
const link = report.content.find((part) => part.type === 'resource_link');
assert.match((await plain.readResource({ uri: link.uri })).contents[0].text, /rivers/i);
assert.equal((await plain.listResourceTemplates()).resourceTemplates.length, 2);
await assert.rejects(plain.readResource({ uri: 'parley://contexts/none' }), /no such resource/);

// Progress.
const progress = [];
await plain.callTool(say('calculate 6*7'), undefined, { onprogress: (told) => progress.push(told) });
assert.ok(progress.some((told) => told.message === 'agent-code calls calculator'), JSON.stringify(progress));
assert.deepEqual(progress.map((told) => told.progress), [...progress.map((told) => told.progress)].sort((a, b) => a - b));

// A question ends the call; another call answers it. An approval needs a person.
const question = await plain.callTool(say('ask me which color'));
assert.equal(question.structuredContent.status, 'waiting');
assert.match(text(question), /which color/);
assert.match(text(await plain.callTool(say('blue', question.structuredContent.context))), /blue/);
const approval = await plain.callTool(say('run echo hello'));
const refused = await plain.callTool(say('yes', approval.structuredContent.context));
assert.ok(refused.isError);
assert.match(text(refused), /only a person/);
const again = await plain.callTool(say('', approval.structuredContent.context));
assert.equal(again.structuredContent.status, 'waiting');

// Failures are results, so that the calling model learns of them.
const failed = await plain.callTool(say('fail'));
assert.ok(failed.isError);
assert.match(text(failed), /failed/);
await assert.rejects(plain.callTool({ name: 'none', arguments: { message: 'x' } }).then((result) => {
  if (result.isError) throw new Error(text(result));
}), /no such tool/);

// A canceled call cancels the task.
const controller = new AbortController();
const slow = plain.callTool(say('count slowly to 100000', context), undefined, {
  signal: controller.signal,
  onprogress: () => controller.abort('enough'),
});
await assert.rejects(slow, /enough/);
for (;;) {
  const seen = await plain.callTool(say('', context)).catch(() => undefined);
  // Without a running task there is nothing to wait for, so the empty message is rejected.
  if (seen?.isError) break;
}
await plain.close();

// A client that asks its user.
const asked = [];
const answers = [
  { action: 'accept', content: { approved: true } },
  { action: 'decline' },
  { action: 'accept', content: { answer: 'green' } },
];
const asking = await connect({ elicitation: {} }, (request) => {
  asked.push(request.params);
  return answers[asked.length - 1];
});
assert.match(text(await asking.callTool(say('run echo approved'))), /approved/);
assert.match(asked[0].message, /echo approved/);
assert.equal(asked[0].requestedSchema.properties.approved.type, 'boolean');
assert.match(text(await asking.callTool(say('run echo secret'))), /declined|denied|not/i);
assert.match(text(await asking.callTool(say('ask me which color'))), /green/);
await asking.close();
console.log('ok');
process.exit(0);
