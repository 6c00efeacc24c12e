package dev.parley.door;

import dev.parley.protocol.ContextId;
import java.nio.ByteBuffer;
import java.util.UUID;
import java.util.function.Supplier;

/// The id of a context that the caller has not named.
public final class NewContextId {

  private NewContextId() {}

  /// The id that the request's key stands for, so that the same request twice makes one context; a new
  /// one if it has none.
  public static ContextId of(Request request, Supplier<UUID> ids) {
    return new ContextId(
        request
            .idempotencyKey()
            .map(key -> derived(request.principal(), key))
            .orElseGet(ids)
            .toString());
  }

  /// The id that stands for this key of this principal's.
  public static ContextId of(String principal, String key) {
    return new ContextId(derived(principal, key).toString());
  }

  private static UUID derived(String principal, String key) {
    var hash = ByteBuffer.wrap(Hash.of(principal + "\n" + key));
    var version4 = (hash.getLong() & ~0xf000L) | 0x4000L;
    return new UUID(version4, (hash.getLong() & ~(3L << 62)) | (2L << 62));
  }
}
