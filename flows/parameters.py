"""What the flows are given, as the form of Prefect's UI shows it: each field with a title for people.

Prefect titles a field by its parameter's name, whatever `Field(title=…)` says; a title in `json_schema_extra` stands.
The help below a field is its line in the flow's docstring.
"""

from __future__ import annotations

from datetime import date  # noqa: TC003 - a field's type, read by pydantic
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Days(BaseModel):
    """The days to take, both ends included, oldest first."""

    model_config = ConfigDict(frozen=True)

    first: date = Field(title="First day", description="The oldest day to take.", json_schema_extra={"position": 0})
    last: date = Field(title="Last day", description="The newest day to take.", json_schema_extra={"position": 1})

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.last < self.first:
            raise ValueError(f"the last day, {self.last}, is before the first, {self.first}")
        return self


class How(StrEnum):
    """What is kept of the texts that models once made."""

    FOLD = "fold"
    """The recorded texts, folded again."""
    FRESH = "fresh"
    """None of them: the models are asked again."""


HomeFolder: TypeAlias = Annotated[Path, Field(json_schema_extra={"title": "Folder of the home"})]
HomeFolders: TypeAlias = Annotated[tuple[Path, ...], Field(json_schema_extra={"title": "Folders of homes"})]
HiveFolder: TypeAlias = Annotated[Path, Field(json_schema_extra={"title": "Folder of the hive"})]
HiveFolders: TypeAlias = Annotated[tuple[Path, ...], Field(json_schema_extra={"title": "Folders of hives"})]
BeeNames: TypeAlias = Annotated[tuple[str, ...], Field(json_schema_extra={"title": "Names of bees"})]
DaysToTake: TypeAlias = Annotated[Days, Field(json_schema_extra={"title": "Days to take"})]
Force: TypeAlias = Annotated[bool, Field(json_schema_extra={"title": "Take done days again"})]
DryRun: TypeAlias = Annotated[bool, Field(json_schema_extra={"title": "Dry run"})]
Rebuilding: TypeAlias = Annotated[How, Field(json_schema_extra={"title": "How to rebuild"})]
