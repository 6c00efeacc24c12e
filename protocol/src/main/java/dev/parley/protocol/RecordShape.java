package dev.parley.protocol;

import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a record's components say about its JSON: which may be missing, and which may not.
record RecordShape(Class<?> type, List<RecordComponent> components, List<Method> required) {

  private static final ClassValue<RecordShape> SHAPES =
      new ClassValue<>() {
        @Override
        protected RecordShape computeValue(Class<?> type) {
          return read(type);
        }
      };

  static RecordShape of(Class<?> type) {
    return SHAPES.get(type);
  }

  /// True if the component may be missing from JSON.
  static boolean optional(RecordComponent component) {
    return component.getAnnotatedType().isAnnotationPresent(Nullable.class);
  }

  /// Refuses a value in which something that must be there is missing.
  void check(Object value) {
    for (var accessor : required) {
      if (read(accessor, value) == null) {
        throw new Rejection.Invalid(accessor.getName() + " is missing");
      }
    }
  }

  private static RecordShape read(Class<?> type) {
    var components = List.of(type.getRecordComponents());
    var required =
        components.stream()
            .filter(c -> !optional(c) && !c.getType().isPrimitive())
            .map(RecordComponent::getAccessor)
            .toList();
    required.forEach(accessor -> accessor.setAccessible(true));
    return new RecordShape(type, components, required);
  }

  private static @Nullable Object read(Method accessor, Object value) {
    try {
      return accessor.invoke(value);
    } catch (ReflectiveOperationException impossible) {
      throw new IllegalStateException(Arrays.toString(impossible.getStackTrace()), impossible);
    }
  }
}
