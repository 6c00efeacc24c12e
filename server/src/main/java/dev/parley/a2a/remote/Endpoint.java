package dev.parley.a2a.remote;

import dev.parley.a2a.Version;
import dev.parley.a2a.WireForm;
import dev.parley.a2a.WireForms;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/// An interface of an agent; `tenant` is sent with every request.
record Endpoint(URI url, Version version, Transport transport, @Nullable String tenant) {

  /// The encoder for requests.
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
