/// Bidirectional connections: named events over Socket.IO, or over a plain WebSocket.
@NullMarked
package dev.parley.socketio;

import org.jspecify.annotations.NullMarked;
