package dev.parley.door.a2a;

import dev.parley.a2a.WireArtifact;
import dev.parley.a2a.WirePart;
import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.DatasetWrite;
import dev.parley.protocol.ArtifactEvent.Encoding;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskId;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Folds a task's events into artifacts: returns each chunk, and all artifacts so far. For one
/// thread.
final class Making {

  private static final String TEXT = "text";

  private final Map<String, Made> all = new LinkedHashMap<>();
  private final boolean repeated;
  private boolean whole = true;

  /// @param repeated whether the last chunk of a text repeats the whole text, instead of being
  ///     empty
  Making(boolean repeated) {
    this.repeated = repeated;
  }

  /// The kind of a chunk, for clients that get the whole text again at its end.
  enum PieceKind {
    /// Not text, or text that is not repeated.
    PLAIN,
    /// A part of a text.
    PARTIAL,
    /// The whole text.
    WHOLE
  }

  /// A chunk of an artifact.
  record Piece(WireArtifact artifact, boolean append, boolean last, PieceKind kind) {}

  /// True if there are no artifacts.
  boolean isEmpty() {
    return all.isEmpty();
  }

  /// An artifact that is still being written.
  private static final class Made {
    final String id;
    final @Nullable String name;
    final @Nullable String description;
    final @Nullable String mediaType;
    final boolean base64;
    @Nullable ObjectNode metadata;
    final List<WirePart> parts = new ArrayList<>();

    Made(
        String id,
        @Nullable String name,
        @Nullable String description,
        @Nullable String mediaType,
        boolean base64,
        @Nullable ObjectNode metadata) {
      this.id = id;
      this.name = name;
      this.description = description;
      this.mediaType = mediaType;
      this.base64 = base64;
      this.metadata = metadata;
    }

    WireArtifact wire(List<WirePart> some) {
      return new WireArtifact(id, name, description, some, metadata, List.of());
    }
  }

  /// Adds a chunk of text.
  Piece text(TaskId task, ContentDelta delta) {
    var id = id(task, delta.blockId());
    var made = all.get(id);
    var first = made == null;
    if (made == null) {
      made = new Made(id, TEXT, null, null, false, null);
      all.put(id, made);
    }
    var piece = piece(made, WirePart.text(delta.delta()), !first, false);
    return repeated ? new Piece(piece.artifact(), piece.append(), false, PieceKind.PARTIAL) : piece;
  }

  /// Ends a text, and the text that it replaces.
  List<Piece> text(TaskId task, ContentComplete end) {
    var id = id(task, end.blockId());
    var pieces = new ArrayList<Piece>();
    if (end.replaces() != null) {
      replaced(end.replaces().value(), id).ifPresent(pieces::add);
    }
    var made = all.get(id);
    if (made == null && end.content().isEmpty()) {
      return pieces;
    }
    var first = made == null;
    if (made == null) {
      made = new Made(id, TEXT, null, null, false, null);
      all.put(id, made);
    }
    if (Boolean.TRUE.equals(end.partial())) {
      made.metadata = Json.object().put("partial", true);
    }
    if (repeated) {
      made.parts.clear();
      var piece = piece(made, WirePart.text(end.content()), false, true);
      pieces.add(new Piece(piece.artifact(), false, true, PieceKind.WHOLE));
    } else {
      pieces.add(piece(made, WirePart.text(first ? end.content() : ""), !first, true));
    }
    return pieces;
  }

  /// A replaced text becomes an empty text: A2A has no way to remove an artifact.
  private Optional<Piece> replaced(String id, String by) {
    var made = all.get(id);
    if (made == null) {
      return Optional.empty();
    }
    made.metadata = Json.object().put("replacedBy", by);
    made.parts.clear();
    return Optional.of(piece(made, WirePart.text(""), false, true));
  }

  private static String id(TaskId task, @Nullable BlockId block) {
    return block == null ? TEXT + "-" + task : block.value();
  }

  /// Adds a chunk of a file.
  Piece file(FileWrite write) {
    var id = write.artifactId().value();
    var made = all.get(id);
    if (made == null || write.index() == 0) {
      made =
          new Made(
              id,
              write.name(),
              write.description(),
              write.mimeType(),
              write.encoding() == Encoding.BASE64,
              about("file", write.version(), write.metadata()));
      all.put(id, made);
    }
    var content = content(made, write);
    var part = new WirePart(content, made.name, made.mediaType, null);
    return piece(made, part, write.index() > 0, write.complete());
  }

  /// The file's bytes, or its address if the agent gave an address instead.
  private static WirePart.Content content(Made made, FileWrite write) {
    var url = made.metadata == null ? "" : made.metadata.path("url").asString("");
    if (!url.isEmpty() && write.data().isEmpty()) {
      return new WirePart.Url(url);
    }
    return new WirePart.Raw(
        made.base64
            ? write.data()
            : Base64.getEncoder().encodeToString(write.data().getBytes(StandardCharsets.UTF_8)));
  }

  /// Adds a data record.
  Piece data(DataWrite write) {
    var id = write.artifactId().value();
    var about = about("data", write.version(), write.metadata());
    var made = new Made(id, write.name(), write.description(), null, false, about);
    all.put(id, made);
    return piece(made, WirePart.data(write.data()), false, true);
  }

  /// Adds rows to a dataset.
  Piece rows(DatasetWrite write) {
    var id = write.artifactId().value();
    var made = all.get(id);
    if (made == null || write.index() == 0) {
      var about = about("dataset", write.version(), write.metadata());
      if (write.schema() != null) {
        about.set("schema", write.schema());
      }
      made = new Made(id, write.name(), write.description(), null, false, about);
      all.put(id, made);
    }
    var rows = Json.object();
    write.rows().forEach(rows.putArray("rows")::add);
    return piece(made, WirePart.data(rows), write.index() > 0, write.complete());
  }

  private static ObjectNode about(
      String type, @Nullable Integer version, @Nullable ObjectNode told) {
    var about = told == null ? Json.object() : told.deepCopy();
    about.put("type", type);
    if (version != null) {
      about.put("version", version);
    }
    return about;
  }

  private Piece piece(Made made, WirePart part, boolean append, boolean last) {
    if (whole) {
      made.parts.add(part);
    }
    return new Piece(made.wire(List.of(part)), append, last, PieceKind.PLAIN);
  }

  /// All artifacts, with their chunks merged.
  List<WireArtifact> all() {
    if (!whole) {
      throw new IllegalStateException("the content of the artifacts was discarded");
    }
    return all.values().stream().map(made -> made.wire(Joined.of(made.parts))).toList();
  }

  /// Discards content, and from now on keeps only what the next chunk needs.
  void forget() {
    whole = false;
    all.values().forEach(made -> made.parts.clear());
  }
}
