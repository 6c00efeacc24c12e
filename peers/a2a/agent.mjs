// What the agent does that the tests talk to: what a message's last line says. It speaks in steps, which the
// servers for each version of the protocol put into their own words.

const waiting = [];
const turns = new Map();
const gone = new Set();

/** Somebody lets the agents take so many steps. */
export function go(steps) {
  for (let i = 0; i < steps; i++) {
    const next = waiting.shift();
    if (next) next();
  }
}

export const waits = () => waiting.length;

export function cancel(task) {
  gone.add(task);
  waiting.splice(0).forEach((next) => next());
}

const step = () => new Promise((resolve) => waiting.push(resolve));
const hitl = 'https://kagent.dev/extensions/hitl/v1';

function chunks(id, texts) {
  return texts.map((text, i) => ({
    artifact: { id, parts: [{ text }] },
    append: i > 0,
    last: i === texts.length - 1,
  }));
}

/**
 * What the agent says, one thing after the other: `{state, text?, data?, type?, payload?}`, `{artifact, append, last}` or
 * `{message}`.
 */
export async function* steps({ text, metadata, task, context, follows, contextGiven }) {
  turns.set(context, (turns.get(context) ?? 0) + 1);
  const order = text.trim().split('\n').at(-1);
  const [word, ...rest] = order.split(' ');
  if (follows) {
    const payload = metadata?.[hitl];
    yield { state: 'working' };
    yield* chunks('answer', [payload ? JSON.stringify(payload) : `you said ${text}`]);
    yield { state: 'completed' };
    return;
  }
  if (word === 'message') {
    yield { message: 'just a message' };
    return;
  }
  yield { state: 'working' };
  switch (word) {
    case 'say':
      yield* chunks('said', rest.map((w, i) => (i ? ` ${w}` : w)));
      break;
    case 'steps': {
      const count = Number(rest[0]);
      for (let i = 1; i <= count && !gone.has(task); i++) {
        yield { artifact: { id: 'steps', parts: [{ text: `${i} ` }] }, append: i > 1, last: i === count };
        await step();
      }
      if (gone.has(task)) {
        yield { state: 'canceled' };
        return;
      }
      break;
    }
    case 'forever':
      while (!gone.has(task)) await step();
      yield { state: 'canceled' };
      return;
    case 'make':
      yield { artifact: { id: 'f1', name: 'picture', parts: [{ raw: 'AAEC', filename: 'a.bin', mediaType: 'application/x-a' }] }, append: false, last: false };
      yield { artifact: { id: 'f1', name: 'picture', parts: [{ raw: 'AwQ=', filename: 'a.bin', mediaType: 'application/x-a' }] }, append: true, last: true };
      yield { artifact: { id: 'd1', name: 'record', parts: [{ data: { answer: 42 } }] }, append: false, last: true };
      yield* chunks('said', ['made']);
      break;
    case 'think':
      yield { state: 'working', text: 'let me see' };
      yield { state: 'working', data: { id: 'c1', name: 'look', args: { at: 'it' } }, type: 'function_call' };
      yield { state: 'working', data: { id: 'c1', name: 'look', response: { result: 'seen' } }, type: 'function_response' };
      yield* chunks('said', ['thought']);
      break;
    case 'end':
      yield { state: 'completed', text: 'all in the end' };
      return;
    case 'fail':
      yield { state: 'failed', text: 'it broke' };
      return;
    case 'reject':
      yield { state: 'rejected', text: 'not my work' };
      return;
    case 'ask':
      yield { state: 'input-required', text: 'What is your name?' };
      return;
    case 'auth':
      yield { state: 'auth-required', text: 'Who are you?' };
      return;
    case 'approve':
      yield {
        state: 'input-required',
        text: 'May I?',
        payload: {
          type: 'tool_approval_request',
          hint: 'careful',
          tools: [
            { id: 'a1', call_id: 'c1', name: 'shell', args: { command: 'rm x' } },
            { id: 'a2', call_id: 'c2', name: 'shell', args: { command: 'rm y' } },
          ],
        },
      };
      return;
    case 'choose':
      yield {
        state: 'input-required',
        text: 'Which?',
        payload: { type: 'ask_user_request', id: 'q1', questions: [
          { question: 'Which colour?', choices: ['red', 'blue'], multiple: false },
          { question: 'Why?', choices: [], multiple: false },
        ] },
      };
      return;
    default:
      yield* chunks('said', [JSON.stringify({ prompt: text, turn: turns.get(context), given: contextGiven })]);
  }
  yield { state: 'completed' };
}

export const extension = hitl;
