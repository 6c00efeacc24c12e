package dev.parley.api;

import dev.parley.http.Request;
import dev.parley.http.Sha256;
import dev.parley.protocol.ContextId;
import java.nio.ByteBuffer;
import java.util.UUID;
import java.util.function.Supplier;

/// Generates the id of a context for requests that name none.
public final class ContextIdGenerator {

  private ContextIdGenerator() {}

  /// The id that is derived from the request's idempotency key, so that a repeated request creates
  /// one context; a new id if the request has no key.
  public static ContextId of(Request request, Supplier<UUID> ids) {
    return new ContextId(
        request
            .idempotencyKey()
            .map(key -> derived(request.principal(), key))
            .orElseGet(ids)
            .toString());
  }

  /// The id that is derived from this key of this principal.
  public static ContextId of(String principal, String key) {
    return new ContextId(derived(principal, key).toString());
  }

  private static UUID derived(String principal, String key) {
    var hash = ByteBuffer.wrap(Sha256.of(principal + "\n" + key));
    var version4 = (hash.getLong() & ~0xf000L) | 0x4000L;
    return new UUID(version4, (hash.getLong() & ~(3L << 62)) | (2L << 62));
  }
}
