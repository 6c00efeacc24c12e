package dev.parley.api.a2a;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.A2aVersion;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.protocol.Json;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import tools.jackson.databind.node.ObjectNode;

/// Negotiates protocol extensions: those that client and server both support are used.
final class ExtensionNegotiation {

  private static final String HEADER = "A2A-Extensions";
  private static final String EARLY_HEADER = "X-A2A-Extensions";

  private final List<String> required;

  ExtensionNegotiation(List<String> required) {
    this.required = List.copyOf(required);
  }

  /// The extensions as declared in agent cards.
  List<ObjectNode> declaredExtensions() {
    return supportedExtensions()
        .map(
            uri -> {
              var extension = Json.object().put("uri", uri);
              if (uri.equals(HitlExtension.URI)) {
                extension.put("description", "Approvals and questions that people answer");
              }
              return extension.put("required", required.contains(uri));
            })
        .toList();
  }

  private Stream<String> supportedExtensions() {
    return Stream.concat(Stream.of(HitlExtension.URI), required.stream()).distinct();
  }

  /// The extensions that the request names.
  ///
  /// @throws A2aException if a required extension is missing
  Set<String> requestedExtensions(Request request) {
    var asked = new LinkedHashSet<String>();
    for (var name : List.of(HEADER, EARLY_HEADER)) {
      request
          .header(name)
          .ifPresent(
              list ->
                  Arrays.stream(list.split(",", -1))
                      .map(String::strip)
                      .filter(uri -> !uri.isEmpty())
                      .forEach(asked::add));
    }
    for (var uri : required) {
      if (!asked.contains(uri)) {
        throw new A2aException(
            A2aError.EXTENSION_SUPPORT_REQUIRED,
            "this agent requires clients to support the extension "
                + uri
                + ": name it in the header "
                + HEADER);
      }
    }
    return asked;
  }

  /// Adds the headers that name the extensions in use.
  Reply withExtensionHeaders(Reply reply, Set<String> asked, A2aVersion version) {
    var used = supportedExtensions().filter(asked::contains).toList();
    if (used.isEmpty()) {
      return reply;
    }
    var headers = new HashMap<>(reply.headers());
    headers.put(version == A2aVersion.V1_0 ? HEADER : EARLY_HEADER, String.join(", ", used));
    // Clients of kagent look for the newer name in both versions.
    headers.put(HEADER, String.join(", ", used));
    return withHeaders(reply, headers);
  }

  static Reply withHeaders(Reply reply, Map<String, String> headers) {
    return switch (reply) {
      case Reply.Json json -> new Reply.Json(json.status(), json.value(), headers);
      case Reply.Bytes bytes ->
          new Reply.Bytes(bytes.status(), bytes.contentType(), bytes.bytes(), headers);
      case Reply.Stream stream -> new Reply.Stream(stream.events(), headers);
      case Reply.Empty empty -> new Reply.Empty(empty.status(), headers);
      case Reply.Rejected _, Reply.Upgrade _ -> reply;
    };
  }
}
