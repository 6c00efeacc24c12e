package dev.parley.external.a2a;

import dev.parley.a2a.A2aEncoder;
import dev.parley.a2a.A2aEncoders;
import dev.parley.a2a.A2aVersion;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/// An interface of an agent; `tenant` is sent with every request.
record A2aEndpoint(URI url, A2aVersion version, A2aTransport transport, @Nullable String tenant) {

  /// The encoder for requests.
  A2aEncoder encoder() {
    return version == A2aVersion.V0_3 && transport == A2aTransport.REST
        ? A2aEncoders.V0_3_REST
        : A2aEncoders.of(version);
  }

  @Override
  public String toString() {
    return transport.binding() + " " + version.number() + " at " + url;
  }
}
