package dev.parley.door.a2a;

import dev.parley.a2a.WirePart;
import dev.parley.protocol.Json;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import tools.jackson.databind.JsonNode;

/// Merges parts that were written one after the other into one part.
final class Joined {

  private Joined() {}

  static List<WirePart> of(List<WirePart> parts) {
    if (parts.size() < 2) {
      return parts;
    }
    var first = parts.getFirst();
    var content =
        switch (first.content()) {
          case WirePart.Text _ -> text(parts);
          case WirePart.Raw raw -> bytes(parts, raw);
          case WirePart.Data _ -> rows(parts);
          case WirePart.Url url -> url;
        };
    return List.of(new WirePart(content, first.filename(), first.mediaType(), first.metadata()));
  }

  private static WirePart.Content text(List<WirePart> parts) {
    var text = new StringBuilder();
    for (var part : parts) {
      if (part.content() instanceof WirePart.Text(var more)) {
        text.append(more);
      }
    }
    return new WirePart.Text(text.toString());
  }

  private static WirePart.Content bytes(List<WirePart> parts, WirePart.Raw first) {
    var bytes = new ByteArrayOutputStream();
    try {
      for (var part : parts) {
        if (part.content() instanceof WirePart.Raw(var more)) {
          bytes.writeBytes(Base64.getDecoder().decode(more));
        }
      }
    } catch (IllegalArgumentException notBase64) {
      return first;
    }
    return new WirePart.Raw(Base64.getEncoder().encodeToString(bytes.toByteArray()));
  }

  private static WirePart.Content rows(List<WirePart> parts) {
    var all = new ArrayList<JsonNode>();
    for (var part : parts) {
      if (part.content() instanceof WirePart.Data(var more)) {
        more.path("rows").forEach(all::add);
      }
    }
    var rows = Json.object();
    rows.putArray("rows").addAll(all);
    return new WirePart.Data(rows);
  }
}
