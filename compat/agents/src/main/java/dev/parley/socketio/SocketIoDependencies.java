package dev.parley.socketio;

import dev.parley.http.ApiTokens;
import dev.parley.http.HttpLimits;
import dev.parley.http.OpenStreams;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.UUID;
import java.util.function.Supplier;

/// The dependencies of socket connections. Ids must be impossible to guess.
public record SocketIoDependencies(
    ApiTokens tokens,
    OpenStreams streams,
    HttpLimits limits,
    Time time,
    Threads threads,
    Supplier<UUID> ids,
    SocketIoSettings socketSettings) {

  String newId() {
    var id = ids.get();
    var bytes = ByteBuffer.allocate(16).putLong(id.getMostSignificantBits());
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(bytes.putLong(id.getLeastSignificantBits()).array());
  }
}
