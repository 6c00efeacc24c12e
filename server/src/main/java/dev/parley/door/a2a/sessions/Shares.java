package dev.parley.door.a2a.sessions;

import dev.parley.door.Descriptions;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.view.ContextView;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The shares of a session, with the hashes of their tokens.
record Shares(List<Share> all) {

  /// The header with a share's token.
  static final String TOKEN = "X-Share-Token";

  /// How many shares a session may have.
  static final int MAX = 100;

  private static final String LIST = "shares";

  Shares {
    all = List.copyOf(all);
  }

  /// A share.
  record Share(String id, String sha256, String created_at) {

    static Share of(String id, ContextId context, String token, Instant now) {
      return new Share(id, hash(context, token), now.toString());
    }

    private static Share read(JsonNode json) {
      return new Share(
          json.path("id").asString(""),
          json.path("sha256").asString(""),
          json.path("created_at").asString(""));
    }
  }

  static Shares of(ContextView context) {
    var metadata = context.metadata();
    var list = metadata == null ? Json.object() : metadata.path(Descriptions.SESSION).path(LIST);
    return new Shares(list.valueStream().map(Share::read).toList());
  }

  /// True if a share has this token. Compares all hashes, each in constant time.
  boolean opens(ContextId context, String token) {
    var hash = hash(context, token).getBytes(StandardCharsets.UTF_8);
    var found = false;
    for (var share : all) {
      found |= MessageDigest.isEqual(hash, share.sha256().getBytes(StandardCharsets.UTF_8));
    }
    return found;
  }

  Shares with(Share share) {
    return new Shares(Stream.concat(all.stream(), Stream.of(share)).toList());
  }

  Shares without(String id) {
    return new Shares(all.stream().filter(share -> !share.id().equals(id)).toList());
  }

  /// The context's metadata with these shares.
  ObjectNode metadata(ContextView context) {
    var before = context.metadata();
    var metadata = before == null ? Json.object() : before.deepCopy();
    var own =
        metadata.path(Descriptions.SESSION) instanceof ObjectNode known
            ? known
            : metadata.putObject(Descriptions.SESSION);
    own.set(LIST, Json.mapper().valueToTree(all));
    return metadata;
  }

  /// Hashes the token with the context's id: a fork copies the metadata, but the token must not
  /// open the fork.
  private static String hash(ContextId context, String token) {
    try {
      var digest = MessageDigest.getInstance("SHA-256");
      digest.update((context + "\n").getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest.digest(token.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
