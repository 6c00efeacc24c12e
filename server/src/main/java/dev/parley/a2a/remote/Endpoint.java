package dev.parley.a2a.remote;

import dev.parley.a2a.Version;
import dev.parley.a2a.WireForm;
import dev.parley.a2a.WireForms;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/// A way to talk to an agent; `tenant` is said with every request.
record Endpoint(URI url, Version version, Transport transport, @Nullable String tenant) {

  /// How requests are written.
  WireForm form() {
    return version == Version.V0_3 && transport == Transport.REST
        ? WireForms.V0_3_REST
        : WireForms.of(version);
  }

  @Override
  public String toString() {
    return transport.binding() + " " + version.number() + " at " + url;
  }
}
