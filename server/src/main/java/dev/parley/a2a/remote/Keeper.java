package dev.parley.a2a.remote;

import dev.parley.a2a.WireArtifact;
import dev.parley.a2a.WirePart;
import dev.parley.a2a.remote.Teller.Manner;
import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.DatasetWrite;
import dev.parley.protocol.ArtifactEvent.Encoding;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.Event;
import dev.parley.protocol.Json;
import dev.parley.task.Run;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Imports files and data of a remote agent as artifacts of the local task. For one thread.
///
/// Files that are given by address are not fetched; the address is stored.
final class Keeper {

  private static final int CHUNK = 48 * 1024;

  /// In an artifact's metadata: its type, if the parts do not show it.
  private static final String TYPE = "type";

  /// The content of a file within an artifact.
  private record Pieces(WirePart about, ByteArrayOutputStream bytes) {}

  private final Run run;
  private final Told told;
  private final Consumer<Event> add;

  Keeper(Run run, Told told, Consumer<Event> add) {
    this.run = run;
    this.told = told;
    this.add = add;
  }

  /// True if the artifact's metadata says that its text is a file.
  static boolean isFile(WireArtifact artifact) {
    return is(artifact, "file");
  }

  private static boolean is(WireArtifact artifact, String type) {
    return artifact.metadata() != null && artifact.metadata().path(TYPE).asString("").equals(type);
  }

  /// Imports the new content of an artifact and returns its size.
  long keep(WireArtifact artifact, Manner manner, boolean last) throws Trouble {
    if (is(artifact, "dataset")) {
      return rows(artifact, manner, last);
    }
    var files = new LinkedHashMap<String, Pieces>();
    var before =
        told.data.keySet().stream().filter(key -> key.startsWith(artifact.artifactId() + "#"));
    var number = manner == Manner.APPEND ? (int) before.count() : 0;
    var size = 0L;
    for (var part : artifact.parts()) {
      var bytes = bytes(part, isFile(artifact));
      if (bytes != null) {
        var name = part.filename() == null ? "" : part.filename();
        files
            .computeIfAbsent(
                artifact.artifactId() + "/" + name,
                _ -> new Pieces(part, new ByteArrayOutputStream()))
            .bytes()
            .writeBytes(bytes);
        continue;
      }
      var value = value(part);
      if (value != null) {
        size += data(artifact, artifact.artifactId() + "#" + number++, part, value);
      }
    }
    for (var file : files.entrySet()) {
      size += file(artifact, file.getKey(), file.getValue(), manner, last);
    }
    if (last) {
      complete(artifact.artifactId() + "/");
    }
    return size;
  }

  private static byte @Nullable [] bytes(WirePart part, boolean file) throws Trouble {
    return switch (part.content()) {
      case WirePart.Raw(var base64) -> decoded(base64);
      case WirePart.Text(var text) when file || part.filename() != null ->
          text.getBytes(StandardCharsets.UTF_8);
      case WirePart.Text _, WirePart.Url _, WirePart.Data _ -> null;
    };
  }

  private static byte[] decoded(String base64) throws Trouble {
    try {
      return Base64.getDecoder().decode(base64);
    } catch (IllegalArgumentException malformed) {
      throw Trouble.unusable("a file that it sent is not valid base64");
    }
  }

  private static @Nullable ObjectNode value(WirePart part) {
    return switch (part.content()) {
      case WirePart.Data(var value) when value instanceof ObjectNode object -> object;
      case WirePart.Data(var value) -> wrapped(value);
      case WirePart.Url(var url) -> {
        var json = Json.object().put("url", url);
        if (part.mediaType() != null) {
          json.put("mediaType", part.mediaType());
        }
        yield json;
      }
      case WirePart.Text _, WirePart.Raw _ -> null;
    };
  }

  private long data(WireArtifact artifact, String key, WirePart part, ObjectNode value) {
    var before = told.data.get(key);
    if (before != null && before.value().equals(value)) {
      return 0;
    }
    add.accept(
        new DataWrite(
            before == null ? newId() : before.id(),
            part.filename() == null ? artifact.name() : part.filename(),
            artifact.description(),
            value,
            metadata(artifact, Told.DATA, key),
            before == null ? 1 : before.version() + 1));
    return value.toString().length();
  }

  private long file(WireArtifact artifact, String key, Pieces pieces, Manner manner, boolean last) {
    var all = pieces.bytes().toByteArray();
    var before = told.files.get(key);
    var from = before == null || manner == Manner.APPEND ? 0 : (int) before.bytes;
    var id = before == null ? newId() : before.id;
    var next = before == null ? 0 : before.next;
    if (before != null && (before.complete || (from >= all.length && !last))) {
      return 0;
    }
    for (var at = from; at < all.length || (next == 0 && at == from); at += CHUNK) {
      var end = Math.min(all.length, at + CHUNK);
      var first = next == 0;
      var name = pieces.about().filename();
      add.accept(
          new FileWrite(
              id,
              Base64.getEncoder().encodeToString(Arrays.copyOfRange(all, at, end)),
              next++,
              last && end == all.length,
              first ? (name == null ? artifact.name() : name) : null,
              first ? artifact.description() : null,
              first ? pieces.about().mediaType() : null,
              first ? Encoding.BASE64 : null,
              first ? metadata(artifact, Told.FILE, key) : null,
              1));
    }
    return Math.max(0, all.length - from);
  }

  private long rows(WireArtifact artifact, Manner manner, boolean last) {
    var all = new ArrayList<ObjectNode>();
    for (var part : artifact.parts()) {
      if (part.content() instanceof WirePart.Data(var value)) {
        value
            .path("rows")
            .forEach(row -> all.add(row instanceof ObjectNode it ? it : wrapped(row)));
      }
    }
    var before = told.rows.get(artifact.artifactId());
    var from =
        before == null || manner == Manner.APPEND ? 0 : (int) Math.min(before.bytes, all.size());
    if (before != null && (before.complete || (from == all.size() && !last))) {
      return 0;
    }
    var rows = all.subList(from, all.size());
    var first = before == null;
    add.accept(
        new DatasetWrite(
            before == null ? newId() : before.id,
            rows,
            before == null ? 0 : before.next,
            last,
            first ? artifact.name() : null,
            first ? artifact.description() : null,
            first && artifact.metadata() != null ? artifact.metadata().get("schema") : null,
            first ? metadata(artifact, Told.ROWS, artifact.artifactId()) : null,
            1));
    return rows.toString().length();
  }

  private static ObjectNode wrapped(JsonNode value) {
    return Json.object().set("value", value);
  }

  /// Completes all files and datasets.
  void finish() {
    complete("");
    for (var made : List.copyOf(told.rows.values())) {
      if (!made.complete) {
        add.accept(
            new DatasetWrite(made.id, List.of(), made.next, true, null, null, null, null, 1));
      }
    }
  }

  private void complete(String prefix) {
    for (var file : List.copyOf(told.files.entrySet())) {
      if (file.getKey().startsWith(prefix) && !file.getValue().complete) {
        var made = file.getValue();
        add.accept(new FileWrite(made.id, "", made.next, true, null, null, null, null, null, 1));
      }
    }
  }

  private ArtifactId newId() {
    return new ArtifactId(run.sources().ids().get());
  }

  private static ObjectNode metadata(WireArtifact artifact, String kind, String key) {
    var metadata = Json.object();
    metadata
        .putObject(RemoteStory.STATE)
        .put(RemoteStory.ARTIFACT, artifact.artifactId())
        .put(kind, key);
    return metadata;
  }
}
