#include "property.h"

extern const property_family property_pointwise, property_activation, property_binary, property_reduction,
    property_softmax, property_norm, property_product, property_loss, property_shape, property_attention,
    property_channel_norm, property_order, property_window, property_axes, property_gradient,
    property_backward, property_narrow, property_cast, property_tensor_cores;

const property_family *const property_families[] = {
    &property_pointwise, &property_activation, &property_binary,       &property_reduction,
    &property_softmax,   &property_norm,       &property_product,      &property_loss,
    &property_shape,     &property_attention,  &property_channel_norm, &property_order,
    &property_window,    &property_axes,       &property_gradient,     &property_backward,
    &property_narrow,    &property_cast,       &property_tensor_cores,
};
const int property_family_count = sizeof property_families / sizeof *property_families;

int property_operator_count(void) {
    int count = 0;
    for (int i = 0; i < property_family_count; i++) count += property_families[i]->count;
    return count;
}

const property_operator *property_operator_at(int index) {
    for (int i = 0; i < property_family_count; i++) {
        if (index < property_families[i]->count) return &property_families[i]->operators[index];
        index -= property_families[i]->count;
    }
    return NULL;
}
