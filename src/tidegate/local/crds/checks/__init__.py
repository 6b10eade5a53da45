"""What is wrong with a CustomResourceDefinition: `definition` judges it as a whole, the other modules each a part."""

from tidegate.local.crds.checks.definition import (
    crd_warnings,
    validate_crd_create,
    validate_crd_status,
    validate_crd_update,
)

__all__ = ["crd_warnings", "validate_crd_create", "validate_crd_status", "validate_crd_update"]
