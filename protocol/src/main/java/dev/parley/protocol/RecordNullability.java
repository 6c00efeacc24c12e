package dev.parley.protocol;

import java.lang.reflect.AnnotatedType;
import java.lang.reflect.RecordComponent;
import org.jspecify.annotations.Nullable;

/// Determines which components of a record may be missing from its JSON.
final class RecordNullability {

  private RecordNullability() {}

  /// True if the component may be missing from JSON.
  static boolean optional(RecordComponent component) {
    return optional(component.getAnnotatedType());
  }

  /// True if a component of this type may be missing from JSON.
  static boolean optional(AnnotatedType type) {
    return type.isAnnotationPresent(Nullable.class);
  }
}
