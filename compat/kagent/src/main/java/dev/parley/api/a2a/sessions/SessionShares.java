package dev.parley.api.a2a.sessions;

import dev.parley.http.Sha256;
import dev.parley.protocol.ContextFacts;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ContextView;
import dev.parley.protocol.Json;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The shares of a session, with the hashes of their tokens.
record SessionShares(List<SessionShare> all) {

  /// The header with a share's token.
  static final String TOKEN = "X-Share-Token";

  /// How many shares a session may have.
  static final int SHARES_MAX = 100;

  private static final String LIST = "shares";

  SessionShares {
    all = List.copyOf(all);
  }

  /// A share.
  record SessionShare(String id, String sha256, String created_at) {

    static SessionShare of(String id, ContextId context, String token, Instant now) {
      return new SessionShare(id, hash(context, token), now.toString());
    }

    private static SessionShare read(JsonNode json) {
      return new SessionShare(
          json.path("id").asString(""),
          json.path("sha256").asString(""),
          json.path("created_at").asString(""));
    }
  }

  static SessionShares of(ContextView context) {
    return new SessionShares(
        ContextFacts.of(context.metadata()).session().stream()
            .flatMap(session -> session.path(LIST).valueStream())
            .map(SessionShare::read)
            .toList());
  }

  /// True if a share has this token. Compares all hashes, each in constant time.
  boolean accepts(ContextId context, String token) {
    var hash = hash(context, token).getBytes(StandardCharsets.UTF_8);
    var found = false;
    for (var share : all) {
      found |= MessageDigest.isEqual(hash, share.sha256().getBytes(StandardCharsets.UTF_8));
    }
    return found;
  }

  SessionShares with(SessionShare share) {
    return new SessionShares(Stream.concat(all.stream(), Stream.of(share)).toList());
  }

  SessionShares without(String id) {
    return new SessionShares(all.stream().filter(share -> !share.id().equals(id)).toList());
  }

  /// The context's metadata with these shares.
  ObjectNode metadata(ContextView context) {
    var before = context.metadata();
    var metadata = before == null ? Json.object() : before.deepCopy();
    var own = ContextFacts.of(metadata).session().orElseGet(Json::object);
    own.set(LIST, Json.mapper().valueToTree(all));
    ContextFacts.putSession(metadata, own);
    return metadata;
  }

  /// Hashes the token with the context's id: a fork copies the metadata, but the token must not
  /// open the fork.
  private static String hash(ContextId context, String token) {
    return Sha256.hex(context + "\n", token.getBytes(StandardCharsets.UTF_8));
  }
}
