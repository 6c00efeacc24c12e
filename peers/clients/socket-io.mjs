// A client of Socket.IO that does as it is told, a JSON command a line, and tells what happens, likewise.
// node socket-io.mjs URL OPTIONS
import { createInterface } from 'node:readline';
import { io } from 'socket.io-client';

const [url, options] = process.argv.slice(2);
const tell = (fact) => process.stdout.write(JSON.stringify(fact) + '\n');
const clients = new Map();

function connect(name, more, namespace) {
  const socket = io(url + (namespace ?? ''), { forceNew: true, ...JSON.parse(options ?? '{}'), ...more });
  clients.set(name, socket);
  tell({ name, is: 'begin', transport: socket.io.engine.transport.name });
  socket.on('connect', () => tell({ name, is: 'connect', id: socket.id }));
  socket.on('connect_error', (error) => tell({ name, is: 'connect_error', message: error.message, data: error.data }));
  socket.on('disconnect', (reason) => tell({ name, is: 'disconnect', reason }));
  socket.onAny((event, ...args) => {
    if (!socket.quiet) tell({ name, is: 'event', event, args });
  });
  socket.io.engine.on('upgrade', (transport) => tell({ name, is: 'upgrade', transport: transport.name }));
}

const commands = {
  connect: ({ name, options, namespace }) => connect(name, options, namespace),
  emit: ({ name, event, args = [] }) => clients.get(name).emit(event, ...args),
  ask: ({ name, event, args = [] }) =>
    clients.get(name).timeout(20_000).emit(event, ...args, (error, ...answer) =>
      tell({ name, is: 'ack', event, answer, error: error?.message })),
  binary: ({ name, event }) => clients.get(name).emit(event, Buffer.from([1, 2, 3])),
  disconnect: ({ name }) => clients.get(name).disconnect(),
  // Stops reading, as a program does that hangs: the operating system's buffers fill up.
  freeze: ({ name }) => {
    clients.get(name).io.engine.transport.ws._socket.pause();
    tell({ name, is: 'frozen' });
  },
  thaw: ({ name }) => clients.get(name).io.engine.transport.ws._socket.resume(),
};

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const command = JSON.parse(line);
    commands[command.do](command);
  })
  .on('close', () => process.exit(0));
tell({ is: 'ready' });
