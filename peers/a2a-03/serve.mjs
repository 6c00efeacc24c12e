// An A2A 0.3 server around the agent of ../a2a, made with the official SDK. Arguments: words that change what it can do.
import { DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import { cancel, extension, steps } from '../a2a/agent.mjs';
import { start, tell } from '../a2a/console.mjs';

const wishes = new Set(process.argv.slice(2));
const id = () => crypto.randomUUID();
const now = () => new Date().toISOString();

function part({ text, raw, data, filename, mediaType, metadata }) {
  if (text !== undefined) return { kind: 'text', text };
  if (raw !== undefined) return { kind: 'file', file: { bytes: raw, name: filename, mimeType: mediaType } };
  return { kind: 'data', data, metadata };
}

class Executor {
  contexts = new Map();
  running = new Set();

  async execute(request, bus) {
    const { taskId, contextId, userMessage, task } = request;
    this.contexts.set(taskId, contextId);
    this.running.add(taskId);
    const text = userMessage.parts.map((one) => (one.kind === 'text' ? one.text : '')).join('');
    tell('message', { text, messageId: userMessage.messageId, taskId, contextId, given: userMessage.taskId });
    const message = (parts, metadata) => ({
      kind: 'message',
      messageId: id(),
      contextId,
      taskId,
      role: 'agent',
      parts,
      metadata,
    });
    let begun = !!task;
    const said = steps({
      text,
      metadata: userMessage.metadata,
      task: taskId,
      context: contextId,
      follows: begun,
    });
    for await (const step of said) {
      if (step.message) {
        bus.publish(message([part({ text: step.message })]));
        break;
      }
      if (!begun) {
        begun = true;
        const status = { state: 'submitted', timestamp: now() };
        bus.publish({ kind: 'task', id: taskId, contextId, status, history: [userMessage] });
      }
      if (step.state) {
        const parts = [];
        if (step.text) parts.push(part({ text: step.text }));
        if (step.data) parts.push(part({ data: step.data, metadata: { kagent_type: step.type } }));
        const metadata = step.payload && { [extension]: step.payload };
        bus.publish({
          kind: 'status-update',
          taskId,
          contextId,
          status: {
            state: step.state,
            message: parts.length ? message(parts, metadata) : undefined,
            timestamp: now(),
          },
          final: step.state !== 'working',
        });
      } else {
        const { id: artifactId, name, parts } = step.artifact;
        bus.publish({
          kind: 'artifact-update',
          taskId,
          contextId,
          artifact: { artifactId, name, parts: parts.map(part) },
          append: step.append,
          lastChunk: step.last,
        });
      }
    }
    this.running.delete(taskId);
    bus.finished();
  }

  async cancelTask(taskId, bus) {
    tell('canceled', { taskId });
    cancel(taskId);
    if (!this.running.has(taskId)) {
      const status = { state: 'canceled', timestamp: now() };
      const contextId = this.contexts.get(taskId);
      bus.publish({ kind: 'status-update', taskId, contextId, status, final: true });
      bus.finished();
    }
  }
}

await start((app, url) => {
  const card = {
    name: 'Peer',
    description: 'An agent for tests',
    version: '1',
    protocolVersion: '0.3.0',
    url: `${url}/jsonrpc`,
    preferredTransport: 'JSONRPC',
    additionalInterfaces: [
      { url: `${url}/jsonrpc`, transport: 'JSONRPC' },
      { url: `${url}/rest`, transport: 'HTTP+JSON' },
    ],
    capabilities: {
      streaming: !wishes.has('no-streams'),
      pushNotifications: false,
      extensions: [{ uri: extension, required: false }],
    },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  };
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new Executor());
  const userBuilder = UserBuilder.noAuthentication;
  const path = wishes.has('old-card') ? 'agent.json' : 'agent-card.json';
  app.use(`/.well-known/${path}`, agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/jsonrpc', jsonRpcHandler({ requestHandler, userBuilder }));
  app.use('/rest', restHandler({ requestHandler, userBuilder }));
});
