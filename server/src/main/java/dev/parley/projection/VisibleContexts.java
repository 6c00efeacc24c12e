package dev.parley.projection;

import dev.parley.protocol.ContextId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Selects the contexts that a caller may see.
///
/// @param all selects every context; the other fields have no effect then
/// @param owners selects the contexts of these owners
/// @param shared also selects the contexts with these ids
/// @param only if it is not null, deselects all contexts except those with these ids
public record VisibleContexts(
    boolean all, Set<String> owners, Set<String> shared, @Nullable Set<String> only) {

  /// All contexts, whoever owns them.
  public static final VisibleContexts ALL = new VisibleContexts(true, Set.of(), Set.of(), null);

  /// No context.
  public static final VisibleContexts NOTHING = of(Set.of());

  /// A set of ids in JSON. Ids that are stored as bytes follow a character that does not occur in ids.
  private static final String IDS =
      """
      (SELECT CASE WHEN substr(value, 1, 1) = '~' THEN unhex(substr(value, 2)) ELSE value END
        FROM json_each(?))""";

  public VisibleContexts {
    owners = Set.copyOf(owners);
    shared = Set.copyOf(shared);
    only = only == null ? null : Set.copyOf(only);
  }

  /// The contexts of these owners.
  public static VisibleContexts of(Set<String> owners) {
    return new VisibleContexts(false, owners, Set.of(), null);
  }

  /// True if the context of this owner is selected.
  public boolean contains(ContextId context, String owner) {
    return all
        || ((owners.contains(owner) || shared.contains(context.value()))
            && (only == null || only.contains(context.value())));
  }

  /// A condition of SQL with places for [#values]. The texts are expressions for the owner and the id
  /// of a context.
  static String condition(String owner, String context) {
    return "(? OR ((%s IN (SELECT value FROM json_each(?)) OR %s IN %s) AND (? IS NULL OR %s IN %s)))"
        .formatted(owner, context, IDS, context, IDS);
  }

  /// The values for [#condition].
  List<@Nullable Object> values() {
    var limit = only == null ? null : ids(only);
    return Arrays.asList(all, ColumnValues.json(owners), ids(shared), limit, limit);
  }

  /// The values for a statement: those of [#condition] between others.
  @Nullable Object[] values(List<?> before, Object... after) {
    var values = new ArrayList<@Nullable Object>(before);
    values.addAll(values());
    values.addAll(Arrays.asList(after));
    return values.toArray();
  }

  private static @Nullable String ids(Set<String> ids) {
    return ColumnValues.json(
        ids.stream()
            .map(
                id ->
                    ColumnValues.id(id) instanceof byte[] bytes
                        ? "~" + HexFormat.of().formatHex(bytes)
                        : id)
            .toList());
  }
}
