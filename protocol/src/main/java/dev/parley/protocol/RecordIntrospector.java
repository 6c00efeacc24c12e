package dev.parley.protocol;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import java.io.Serial;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.cfg.MapperConfig;
import tools.jackson.databind.introspect.Annotated;
import tools.jackson.databind.introspect.AnnotatedClass;
import tools.jackson.databind.introspect.AnnotatedParameter;
import tools.jackson.databind.introspect.JacksonAnnotationIntrospector;

/// Informs Jackson, without annotations, which fields of a record are required and what enums are
/// called on the wire.
final class RecordIntrospector extends JacksonAnnotationIntrospector {

  @Serial private static final long serialVersionUID = 1L;

  /// Rejects null, and therefore a missing field, for a component that is not `@Nullable`. Rejects
  /// null in a list, unless the list has elements of any type.
  @Override
  public JsonSetter.Value findSetterInfo(MapperConfig<?> config, Annotated member) {
    if (member instanceof AnnotatedParameter parameter
        && parameter.getOwner().getAnnotated() instanceof Constructor<?> constructor
        && constructor.getDeclaringClass().isRecord()) {
      var type = constructor.getAnnotatedParameterTypes()[parameter.getIndex()];
      var element = parameter.getType().getContentType();
      return JsonSetter.Value.construct(
          RecordNullability.optional(type) ? Nulls.SET : Nulls.FAIL,
          element == null || element.hasRawClass(JsonNode.class) ? Nulls.SET : Nulls.FAIL);
    }
    return super.findSetterInfo(config, member);
  }

  @Override
  public String[] findEnumValues(
      MapperConfig<?> config, AnnotatedClass type, Enum<?>[] constants, String[] names) {
    return Arrays.stream(constants)
        .map(c -> c instanceof WireName wire ? wire.wire() : c.name())
        .toArray(String[]::new);
  }

  /// Determines which components of a record may be missing from its JSON.
  static final class RecordNullability {

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
}
